package bytecode

import "github.com/npulang/npu/ir/tensor"

// makePacks writes what there is of further layouts.
func (f *File) makePacks() []chunk {
	if len(f.Packs) == 0 {
		return nil
	}
	return pack(func(w *writer) {
		each(w, f.Packs, func(p *Packed) { w.uint(int64(p.Of)); w.string(p.Layout); w.uint(p.Size) })
	})
}

func (f *File) readPacks(b []byte) error {
	type key struct {
		of     int
		layout string
	}
	seen := map[key]bool{}
	of := f.Valued()
	return unpack("packs", b, func(r *reader) {
		f.Packs = list(r, func() Packed { return Packed{Of: r.small(), Layout: r.string(), Size: r.size(), Data: []byte{}} })
		for i := range f.Packs {
			p := &f.Packs[i]
			k := key{p.Of, p.Layout}
			switch {
			case p.Of >= len(of):
				r.fail("layout %q is of weight %d, where there are %d", p.Layout, p.Of, len(of))
			case seen[k]:
				r.fail("weight %q is there twice in layout %q", of[p.Of].Name, p.Layout)
			}
			seen[k] = true
		}
	})
}

// makePacked writes the bytes, of what is made one after the other in the same memory.
func (f *File) makePacked() (chunks []chunk) {
	var room []byte
	for i := range f.Packs {
		p := &f.Packs[i]
		switch {
		case p.Size == 0:
		case p.Data != nil:
			chunks = append(chunks, plain(p.Data))
		default:
			chunks = append(chunks, func() []byte {
				if int64(len(room)) < p.Size {
					room = tensor.AlignedBytes(int(p.Size))
				}
				p.Make(room[:p.Size])
				return room[:p.Size]
			})
		}
	}
	return chunks
}

// readPacked finds the bytes of the layouts, without looking at them.
func (f *File) readPacked(b []byte) error {
	at := int64(0)
	for i := range f.Packs {
		p := &f.Packs[i]
		if p.Size == 0 {
			continue
		}
		if at = padded(at, fileAlign); at > int64(len(b)) || p.Size > int64(len(b))-at {
			return badFile("the data of layout %q are cut off", p.Layout)
		}
		p.Data = onLines(b[at : at+p.Size : at+p.Size])
		at += p.Size
	}
	if at != int64(len(b)) {
		return badFile("%d bytes of section %q belong to no layout", int64(len(b))-at, packSection)
	}
	return nil
}
