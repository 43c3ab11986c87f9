package diag

func (d *Diagnostic) Headline() string { return d.Message + " [" + d.Code + "]" }
