// Package place lays buffers out in one arena, so that those that live at the
// same time do not overlap and the arena is small.
//
//	id,lower,upper,size          id,lower,upper,size,offset
//	0,0,9,4                      0,0,9,4,8
//	1,0,21,4              =>     1,0,21,4,0
//	2,9,21,8                     2,9,21,8,4
//
// Solve tries a table of fast methods and keeps the lowest plan; with Effort, a
// search by branch and bound goes on from there, down to the proof that no plan
// is lower. Check tells whether a plan is sound, in other ways than it was made.
//
// It knows buffers, lives and sizes only: tasks, streams and what may share
// memory for other reasons are the planner's (lower).
package place
