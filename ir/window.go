package ir

// A Window is the way of a window along one spatial axis of a call without symbols,
// as kernels outside of this package need it.
type Window struct {
	In, Out        int // elements of the axis, places of the window
	Size           int // elements of the window
	Step, Spread   int // from one place to the next, from one element of the window to the next
	Before, Behind int // padding
}

// WindowsOf binds the windows of a call of conv, max_pool or avg_pool, whose Out is
// known, one for each spatial axis. An error says what evaluating the call would say.
func WindowsOf(c *Call) ([]Window, error) {
	slides, err := windowSlides(c)
	if err != nil {
		return nil, err
	}
	axes, err := bindAll(c, slides)
	if err != nil {
		return nil, err
	}
	list := make([]Window, len(axes))
	for i, a := range axes {
		list[i] = Window{a.in, a.out, a.size, a.step, a.spread, a.before, a.behind}
	}
	return list, nil
}

// windowSlides reads the attributes of the operators that have windows.
func windowSlides(c *Call) ([]slide, error) {
	if len(c.In) == 1 {
		return poolSlides(c)
	}
	if err := checkChannels(c); err != nil {
		return nil, err
	}
	return slidesOf(c, c.In[1].Shape[2:])
}
