package npu

import (
	"context"
	"slices"

	"github.com/npulang/npu/ir"
	"github.com/npulang/npu/ir/tensor"
)

// Copy submits a copy from one tensor to another of the same type. At least one
// of them is on the stream's device.
func (s *Stream) Copy(dst, src *DeviceTensor) error {
	if dst == nil || src == nil {
		return at(faults("missing-argument", "Copy", "a tensor is nil"))
	}
	if dst.dev != s.dev && src.dev != s.dev {
		return at(faults("wrong-arguments", "Copy", "neither tensor is on device %s of the stream", s.dev.row.Name))
	}
	return s.move("Copy", &dst.t, &src.t, []*DeviceTensor{src}, []*DeviceTensor{dst})
}

// Upload submits a copy from the host to the device. src must not change until
// the stream has done it.
func (s *Stream) Upload(dst *DeviceTensor, src *Tensor) error {
	if dst == nil || src == nil {
		return at(faults("missing-argument", "Upload", "a tensor is nil"))
	}
	return s.move("Upload", &dst.t, src, nil, []*DeviceTensor{dst})
}

// Download submits a copy from the device to the host. dst is filled when the
// stream has done it.
func (s *Stream) Download(dst *Tensor, src *DeviceTensor) error {
	if dst == nil || src == nil {
		return at(faults("missing-argument", "Download", "a tensor is nil"))
	}
	return s.move("Download", dst, &src.t, []*DeviceTensor{src}, nil)
}

// move submits the copy of bytes.
func (s *Stream) move(what string, dst, src *tensor.T, reads, writes []*DeviceTensor) error {
	held := slices.Concat(reads, writes)
	if err := s.checkMove(what, dst, src, held); err != nil {
		return located(err)
	}
	for i, t := range held {
		if !t.hold() {
			dropAll(held[:i])
			return at(faults("use-after-free", what, "%s is freed", t.called("a tensor")))
		}
	}
	err := s.rt.order.allows(s, what, reads, writes)
	if err == nil {
		s.rt.order.note(s, what, reads, writes)
		to, from := dst.Data, src.Data
		err = s.submit(&job{what: what, site: here(), hold: held, do: func(*Stream) error {
			copy(to, from)
			return nil
		}})
	}
	if err != nil {
		dropAll(held)
		return located(err)
	}
	return nil
}

// checkMove checks that one tensor has room for the other.
func (s *Stream) checkMove(what string, dst, src *tensor.T, on []*DeviceTensor) error {
	if err := s.rt.check(what); err != nil {
		return err
	}
	here := false
	for _, t := range on {
		if t.rt != s.rt {
			return faults("wrong-arguments", what, "%s belongs to another runtime", t.called("a tensor"))
		}
		here = here || t.dev == s.dev
	}
	switch {
	case !here:
		return faults("wrong-arguments", what, "%s is on device %s, but the stream works on %s", on[0].called("the tensor"), on[0].dev.row.Name, s.dev.row.Name)
	case dst.DType != src.DType:
		return faults("dtype-mismatch", what, "from %s to %s", typeText(src), typeText(dst))
	case !sameType(dst, src):
		return faults("shape-mismatch", what, "from %s to %s", typeText(src), typeText(dst))
	case len(dst.Data) != len(src.Data) || !whole(dst):
		return faults("bad-input", what, "the host's tensor %s has not as many bytes as it needs", typeText(dst))
	}
	return nil
}

// whole reports whether a tensor has as much data as its type says.
func whole(t *tensor.T) bool {
	n, ok := tensor.Elements(t.Shape)
	return ok && n*t.DType.Size() == len(t.Data)
}

// Upload makes a tensor on the current device that holds a copy of src.
func (rt *Runtime) Upload(src *Tensor) (*DeviceTensor, error) {
	if src == nil {
		return nil, at(faults("missing-argument", "Upload", "the tensor is nil"))
	}
	if src.DType.Size() == 0 || ir.TypeOf(src).Check() != nil || !whole(src) {
		return nil, at(faults("bad-input", "Upload", "the host's tensor %s has %d bytes", typeText(src), len(src.Data)))
	}
	t, err := rt.newTensor(rt.here(), src.DType, src.Shape)
	if err != nil {
		return nil, located(err)
	}
	copy(t.t.Data, src.Data)
	return t, nil
}

// Download copies a tensor to the host, behind what was submitted to the default
// stream of its device.
func (rt *Runtime) Download(src *DeviceTensor) (*Tensor, error) {
	if src == nil {
		return nil, at(faults("missing-argument", "Download", "the tensor is nil"))
	}
	s := src.dev.standard
	dst := tensor.New(src.t.DType, src.t.Shape...)
	if err := s.Download(dst, src); err != nil {
		return nil, err
	}
	if err := s.Synchronize(context.Background()); err != nil {
		return nil, err
	}
	return dst, nil
}
