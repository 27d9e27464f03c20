package analysis

import (
	"slices"
	"testing"
)

func TestLanguageOf(t *testing.T) {
	for text, want := range map[string]string{
		"":              English,
		"kubectl nginx": English,
		"It is the first of the three that were asked for.":                                        English,
		"Der Hund ist nicht im Haus und wir wissen nicht, wo er ist.":                              "german",
		"Le chien n'est pas dans la maison et nous ne savons pas où il est.":                       "french",
		"El perro no está en la casa y no sabemos dónde está.":                                     "spanish",
		"Il cane non è nella casa e non sappiamo dove sia, ma questo non è un problema.":           "italian",
		"O cão não está em casa e nós não sabemos onde ele está, mas isso não é um problema.":      "portuguese",
		"De hond is niet in het huis en wij weten niet waar hij is.":                               "dutch",
		"Hunden är inte i huset och vi vet inte var den är.":                                       "swedish",
		"Koira ei ole talossa, ja me emme tiedä, missä se on, mutta se on hyvä.":                   "finnish",
		"A kutya nincs a házban, és nem tudjuk, hogy hol van, de ez nem baj.":                      "hungarian",
		"Köpek evde değil ve nerede olduğunu bilmiyoruz, ama bu bir sorun değil.":                  "turkish",
		"Câinele nu este în casă și nu știm unde este, dar nu este o problemă.":                    "romanian",
		"Собаки нет в доме, и мы не знаем, где она.":                                               "russian",
		"الكلب ليس في البيت ولا نعرف أين هو.":                                                      "arabic",
		"नमस्ते दुनिया":                                                                            English,
		"The word Schadenfreude is a word of the German language, and so is Zeitgeist.":            English,
		"for (var i = 0; i < n; i++) { o.a = de[i]; if (y in e) return la; } // see the list of e": English,
	} {
		if got := languageOf([]byte(text)); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func TestQueryIsAnalysedInItsLanguage(t *testing.T) {
	a, err := New(Options{Tokenizer: Unicode, Stemmer: Auto, FoldDiacritics: true})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	terms := func(q string) (out []string) {
		a.Query([]byte(q), func(forms []string) string {
			asked++
			if i := slices.Index(forms, "haus"); i >= 0 {
				return "haus"
			}
			return forms[0]
		}, func(t Token) bool {
			out = append(out, t.Term)
			return true
		})
		return out
	}
	if got := terms("where are the refunds"); !slices.Contains(got, "refund") || asked > 0 {
		t.Errorf("an English query: %v, asked %d times", got, asked)
	}
	if got := terms("wo sind die Häuser"); !slices.Contains(got, "haus") || asked > 0 {
		t.Errorf("a German query: %v, asked %d times", got, asked)
	}
	if got := terms("Häuser"); !slices.Equal(got, []string{"haus"}) || asked != 1 {
		t.Errorf("a query that does not tell: %v, asked %d times", got, asked)
	}
}

func TestNamesInCodeHaveParts(t *testing.T) {
	a, err := New(Options{Tokenizer: Unicode})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"DiffExecutor":   {"diffexecutor", "diff", "executor"},
		"HTTPServer":     {"httpserver", "http", "server"},
		"parseJSON":      {"parsejson", "parse", "json"},
		"snake_case":     {"snake", "case"},
		"utf8Decode":     {"utf8decode", "utf8", "decode"},
		"plain":          {"plain"},
		"UPPER":          {"upper"},
		"größeÄndern":    {"größeändern", "größe", "ändern"},
		"os.ReadFile(x)": {"os", "readfile", "read", "file", "x"},
	} {
		want := slices.Clone(want)
		for i := range want {
			want[i] = a.normalise(want[i])
		}
		if got := a.Of([]byte(name), true).Terms(name); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if got := a.Of([]byte(name), false).Terms(name); len(got) > len(want) || slices.Contains(got, "executor") {
			t.Errorf("%s in prose: %v", name, got)
		}
	}
	if plain, _ := New(Options{Tokenizer: Plain}); plain.Of(nil, true) != plain {
		t.Error("the plain tokenizer knows code")
	}
}
