package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// A session is one of the two processes.
type session struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	load    float64 // seconds
	version string
}

// A reply is what a process answers, one JSON object a line.
type reply struct {
	Error   string  `json:"error,omitempty"`
	Load    float64 `json:"load,omitempty"`
	Version string  `json:"version,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// start begins a session and waits until it is ready.
func start(cmd *exec.Cmd) (*session, error) {
	s := &session{cmd: cmd}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if s.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r, err := s.hear()
	if err != nil {
		s.end()
		return nil, err
	}
	s.load, s.version = r.Load, r.Version
	return s, nil
}

// hear reads the next reply.
func (s *session) hear() (r reply, err error) {
	line, err := s.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	switch {
	case err != nil:
		return r, fmt.Errorf("%s ended: %w", strings.Join(s.cmd.Args, " "), err)
	case r.Error != "":
		return r, errors.New(r.Error)
	}
	return r, nil
}

// ask gives a command and waits for its reply.
func (s *session) ask(name string, argument any) (reply, error) {
	line, err := json.Marshal([]any{name, argument})
	if err != nil {
		return reply{}, err
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return reply{}, err
	}
	return s.hear()
}

// run lets the network run count times, and returns the seconds that took.
func (s *session) run(count int) (float64, error) {
	r, err := s.ask("run", count)
	return r.Seconds, err
}

// end lets the process end.
func (s *session) end() {
	s.in.Close()
	s.cmd.Wait()
}
