package analysis

func (a *Analyzer) unicodeTokens(text []byte, yield func(Token) bool) { a.plainTokens(text, yield) }
func normalise(w string) string                                       { return lower(w) }
func (a *Analyzer) compared(w string) string                          { return w }
