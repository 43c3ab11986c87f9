package place

// An ordered map is a treap: a search tree by key that is also a heap by
// random priorities, which keeps it shallow. Priorities come from a fixed
// sequence, so that the same operations always make the same tree.
type ordered[V any] struct {
	nodes []node[V]
	root  int32
	free  []int32
	seed  xorshift
}

// A key sorts by its first number, then by its second.
type key [2]int64

func (k key) less(l key) bool { return k[0] < l[0] || k[0] == l[0] && k[1] < l[1] }

type node[V any] struct {
	key         key
	value       V
	priority    uint64
	left, right int32
}

const leaf = 0 // no node; node 0 is never used

func newOrdered[V any]() *ordered[V] {
	return &ordered[V]{nodes: make([]node[V], 1), seed: 0x9e3779b97f4a7c15}
}

// xorshift is a source of numbers that is the same everywhere: xorshift64
// (Marsaglia 2003). It must not be 0.
type xorshift uint64

func (x *xorshift) next() uint64 {
	*x ^= *x << 13
	*x ^= *x >> 7
	*x ^= *x << 17
	return uint64(*x)
}

// insert adds a key that is not there.
func (o *ordered[V]) insert(k key, v V) {
	var n int32
	if last := len(o.free) - 1; last >= 0 {
		n, o.free = o.free[last], o.free[:last]
	} else {
		n = int32(len(o.nodes))
		o.nodes = append(o.nodes, node[V]{})
	}
	o.nodes[n] = node[V]{key: k, value: v, priority: o.seed.next()}
	left, right := o.split(o.root, k)
	o.root = o.merge(o.merge(left, n), right)
}

// remove takes out a key that is there.
func (o *ordered[V]) remove(k key) {
	at := &o.root
	for *at != leaf && o.nodes[*at].key != k {
		if k.less(o.nodes[*at].key) {
			at = &o.nodes[*at].left
		} else {
			at = &o.nodes[*at].right
		}
	}
	if n := *at; n != leaf {
		*at = o.merge(o.nodes[n].left, o.nodes[n].right)
		o.free = append(o.free, n)
	}
}

// ceil finds the smallest key that is at least k.
func (o *ordered[V]) ceil(k key) (key, V, bool) {
	best := int32(leaf)
	for n := o.root; n != leaf; {
		if o.nodes[n].key.less(k) {
			n = o.nodes[n].right
		} else {
			best, n = n, o.nodes[n].left
		}
	}
	return o.nodes[best].key, o.nodes[best].value, best != leaf
}

// below finds the largest key that is less than k.
func (o *ordered[V]) below(k key) (key, V, bool) {
	best := int32(leaf)
	for n := o.root; n != leaf; {
		if o.nodes[n].key.less(k) {
			best, n = n, o.nodes[n].right
		} else {
			n = o.nodes[n].left
		}
	}
	return o.nodes[best].key, o.nodes[best].value, best != leaf
}

// split parts a tree into the keys below k and the others. It recurses over
// the tree's depth, which is logarithmic.
func (o *ordered[V]) split(n int32, k key) (left, right int32) {
	if n == leaf {
		return leaf, leaf
	}
	if o.nodes[n].key.less(k) {
		l, r := o.split(o.nodes[n].right, k)
		o.nodes[n].right = l
		return n, r
	}
	l, r := o.split(o.nodes[n].left, k)
	o.nodes[n].left = r
	return l, n
}

// merge joins two trees, all keys of a below all of b.
func (o *ordered[V]) merge(a, b int32) int32 {
	switch {
	case a == leaf:
		return b
	case b == leaf:
		return a
	case o.nodes[a].priority > o.nodes[b].priority:
		o.nodes[a].right = o.merge(o.nodes[a].right, b)
		return a
	}
	o.nodes[b].left = o.merge(a, o.nodes[b].left)
	return b
}
