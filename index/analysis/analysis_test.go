package analysis

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func terms(t *testing.T, o Options, text string) string {
	t.Helper()
	return strings.Join(newAnalyzer(t, o).Terms(text), " ")
}

func TestPlainTerms(t *testing.T) {
	o := Options{Tokenizer: Plain, Stopwords: Short, Stemmer: None, MinLength: 1}
	for text, want := range map[string]string{
		"Refunds go back to the original card after billing approves them.": "refunds go back original card after billing approves them",
		"don't foo_bar x² İ ΣΑΣ":                                            "don t foo bar x² i σασ",
		"a\xffb naïve e\u0301t\u0301":                                       "b naïve e t",
		"":                                                                  "",
		"The":                                                               "",
		"ＡＢＣ ǅ":                                                             "ａｂｃ ǆ",
	} {
		if got := terms(t, o, text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := terms(t, Options{Tokenizer: Plain, Stemmer: English}, "Refunds"); got != "refund" {
		t.Errorf("stemmed: %q", got)
	}
	if got := terms(t, Options{Tokenizer: Plain, MinLength: 2}, "a é éa İs"); got != "éa is" {
		t.Errorf("two or more characters: %q", got)
	}
}

// Natural words through the unicode tokenizer without a stemmer.
func TestUnicodeTerms(t *testing.T) {
	for _, c := range []struct{ language, text, want string }{
		{"English", "The team's “naïve” co-operation: isn't it O'Brien’s café?", "the team naive co operation isn't it o'brien cafe"},
		{"names", "os.Open(config.toml) foo_bar HTTPServer v1.26 3.14 1,000 1'000 a/b", "os open config toml foo bar httpserver v1.26 3.14 1 000 1 000 a b"},
		{"acronyms", "U.S.A. and U.S.A's, e.g. J.R.R. Tolkien; U.S.Army", "usa and usa eg jrr tolkien u s army"},
		{"German", "Straße STRASSE Größe Äpfel ﬁnden Maßstab", "strasse strasse grosse apfel finden massstab"},
		{"French", "L’élève d'août, qu'on aujourd'hui œuvre ŒUVRE n'est", "eleve aout on aujourd'hui oeuvre oeuvre est"},
		{"Italian", "dell'università l'uomo perché", "universita uomo perche"},
		{"Catalan", "col·lecció coŀlecció L'hospital", "colleccio colleccio hospital"},
		{"Polish", "Łódź żółw", "lodz zolw"},
		{"Danish", "Ærø blåbær", "aero blabaer"},
		{"Vietnamese", "Tiếng Việt đường", "tieng viet duong"},
		{"Turkish", "İSTANBUL ISPARTA ısı Şişli", "istanbul isparta isi sisli"},
		{"Russian", "Ёлка ЁЖ йод за́мок Чайковский", "елка еж йод замок чайковский"},
		{"Ukrainian", "Їжак п’ять п'ять", "їжак п'ять п'ять"},
		{"Greek", "Λόγος ΛΟΓΟΣ λόγοις Ἀχιλλεύς τῷ", "λογοσ λογοσ λογοισ αχιλλευσ τωι"},
		{"Arabic", "مُحَمَّد محمد كتـــاب أحمد احمد آب ٣٤ سؤال", "محمد محمد كتاب احمد احمد اب 34 سؤال"},
		{"Persian", "می\u200cروم ۱۴۰۳", "میروم 1403"},
		{"Hebrew", "שָׁלוֹם שלום צה״ל צה\"ל", "שלום שלום צהל צהל"},
		{"Hindi", "हिन्दी की शक्ति क़लम १२", "हिन्दी की शक्ति क\u093cलम 12"},
		{"Tamil", "தமிழ் மொழி", "தமிழ் மொழி"},
		{"Thai", "ภาษาไทย น้ำ ๒๕", "ภา าษ ษา าไ ไท ทย น้ํา 25"},
		{"Chinese", "东京都 水。北京大学", "东京 京都 水 北京 京大 大学"},
		{"Japanese", "東京タワーに行く ガス ｶﾞｽ 令和3年", "東京 京タ タワ ワー ーに に行 行く ガス ガス 令和 3 年"},
		{"Korean", "한국어를 배우다 책", "한국 국어 어를 배우 우다 책"},
		{"mixed", "Go언어와 日本語text", "go 언어 어와 日本 本語 text"},
		{"full width", "Ｆｕｌｌ　Ｗｉｄｔｈ　１２３", "full width 123"},
		{"compatibility", "½ ㍿ ㎏ ① ⒈ x² Ⅳ", "1 2 株式 式会 会社 kg 1 1 x 2 iv"},
		{"hyphenation", "soft\u00adhyphen zero\u200bwidth word\ufeff", "softhyphen zero width word"},
		{"broken", "caf\xe9 na\xc3\xafve \xe2\x82 x", "caf naive x"},
		{"nothing", "… — 😀 \u0301 _ ' . \xff", ""},
	} {
		if got := terms(t, unstemmed(), c.text); got != c.want {
			t.Errorf("%s: %q gives\n%q, want\n%q", c.language, c.text, got, c.want)
		}
	}
}

func TestDiacriticsStayUnlessFolded(t *testing.T) {
	o := unstemmed()
	o.FoldDiacritics = false
	if got, want := terms(t, o, "Élève e\u0301te\u0301 Straße Ёлка İs łø ΛΌΓΟΣ"), "élève été strasse ёлка is łø λόγοσ"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A word and its forms meet in one term, and words that differ do not.
func TestStemming(t *testing.T) {
	for _, c := range []struct{ language, same, other string }{
		{"english", "refund Refunds refunded REFUNDING refund's", "refuse"},
		{"english", "résumés resume RESUMES", "rest"},
		{"german", "Häuser hauser HAUSES Haus", "Hase"},
		{"german", "Straßen strasse STRASSE", "streit"},
		{"french", "élèves l'élève ÉLEVES eleve", "élan"},
		{"spanish", "canciones canción CANCIÓN cancion", "cantar"},
		{"russian", "книги книгу КНИГОЙ книга", "клён"},
		{"russian", "ёлки елки Ёлка", "йод"},
		{"turkish", "kitaplar KİTAP kitapları", "ev"},
		{"turkish", "ısı ISI", "ev"},
		{"turkish", "İstanbul'da İSTANBUL istanbul’un", "ispanya"},
		{"arabic", "كِتاب الكتاب كتـاب", "قلم"},
	} {
		o := Options{Tokenizer: Unicode, Stemmer: c.language, FoldDiacritics: true}
		got := newAnalyzer(t, o).Terms(c.same)
		if len(slices.Compact(slices.Clone(got))) != 1 {
			t.Errorf("%s: %q gives %q", c.language, c.same, got)
		}
		if other := terms(t, o, c.other); other == got[0] {
			t.Errorf("%s: %q and %q are both %q", c.language, c.same, c.other, other)
		}
	}
}

func TestStopWords(t *testing.T) {
	for _, c := range []struct {
		o          Options
		text, want string
	}{
		{Options{Tokenizer: Plain, Stopwords: Short}, "The cat and A dog with THEM", "cat dog them"},
		{Options{Tokenizer: Unicode, Stopwords: Short}, "The cat and A dog with THEM", "cat dog them"},
		{Options{Tokenizer: Unicode, Stopwords: English}, "I don’t think that's what he's DOING here, ＴＨＥ cat", "think cat"},
		{Options{Tokenizer: Unicode, Stopwords: English}, "let's let it's its", "let"},
		{Options{Tokenizer: Unicode, Stopwords: English, Stemmer: English}, "was wasting being beings", "wast be"}, // before stemming
		{Options{Tokenizer: Unicode}, "the cat", "the cat"},
	} {
		if got := terms(t, c.o, c.text); got != c.want {
			t.Errorf("%+v: %q gives %q, want %q", c.o, c.text, got, c.want)
		}
	}
	if n := len(strings.Fields(englishList)); n != 174 {
		t.Errorf("%d English stop words, Snowball publishes 174", n)
	}
}

func TestStopWordFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stop.txt")
	list := "\ufeff# French\r\nÉté\r\n\r\n  le | the article\nla # too\ncouldn't"
	if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	text := "LE été La ete e\u0301te\u0301 couldn’t maison"
	o := Options{Tokenizer: Unicode, Stopwords: path, FoldDiacritics: true}
	if got := terms(t, o, text); got != "maison" {
		t.Errorf("folded: %q", got)
	}
	o.FoldDiacritics = false
	if got := terms(t, o, text); got != "ete maison" {
		t.Errorf("not folded: %q", got)
	}
	o.Tokenizer = Plain
	if got := terms(t, o, "LE ÉTÉ ete maison"); got != "ete maison" {
		t.Errorf("plain: %q", got)
	}
}

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := Default()
	for name, c := range map[string]struct {
		change func(*Options)
		is     error
		says   []string
	}{
		"tokenizer":       {func(o *Options) { o.Tokenizer = "ascii" }, ErrOptions, []string{`"ascii"`, `"unicode" or "plain"`}},
		"no tokenizer":    {func(o *Options) { o.Tokenizer = "" }, ErrOptions, []string{"tokenizer"}},
		"stemmer":         {func(o *Options) { o.Stemmer = "klingon" }, ErrOptions, []string{`"klingon"`, `"none", "arabic"`, `or "turkish"`}},
		"length":          {func(o *Options) { o.MinLength = -1 }, ErrOptions, []string{"min_length is -1"}},
		"no file":         {func(o *Options) { o.Stopwords = filepath.Join(dir, "none.txt") }, fs.ErrNotExist, []string{"none.txt", `"short"`}},
		"directory":       {func(o *Options) { o.Stopwords = dir }, nil, []string{dir, "regular file"}},
		"two words":       {func(o *Options) { o.Stopwords = file("two", "a\nb c\n") }, nil, []string{"two:2:", "one word"}},
		"not UTF-8":       {func(o *Options) { o.Stopwords = file("latin1", "\xe9t\xe9\n") }, nil, []string{"latin1:1:", "UTF-8"}},
		"an endless line": {func(o *Options) { o.Stopwords = file("long", strings.Repeat("x", 1<<17)) }, nil, []string{"long"}},
	} {
		o := good
		c.change(&o)
		_, err := New(o)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v is not %v", name, err, c.is)
		}
		for _, s := range c.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %q does not say %q", name, err, s)
			}
		}
	}
}

func TestLanguages(t *testing.T) {
	names := Languages()
	if !slices.IsSorted(names) || !slices.Contains(names, "english") || len(names) != len(stemmers) {
		t.Errorf("%q", names)
	}
	for _, name := range names {
		a := newAnalyzer(t, Options{Tokenizer: Unicode, Stemmer: name, FoldDiacritics: true})
		for _, text := range append(pieces, "dan d'un", "ing", "s") {
			for _, term := range a.Terms(text) {
				if term == "" {
					t.Errorf("%s makes nothing of %q", name, text)
				}
			}
		}
	}
}

func TestOffsetsAreTheSources(t *testing.T) {
	text := "L’été: ﬁn ½ ㍿ 東京都 ｶﾞｽ U.S.A. \xff Ｆｏｏ_bar"
	var got []string
	newAnalyzer(t, unstemmed()).Tokens([]byte(text), func(k Token) bool {
		got = append(got, k.Term+"="+text[k.Start:k.End])
		return true
	})
	want := []string{"ete=L’été", "fin=ﬁn", "1=½", "2=½", "株式=㍿", "式会=㍿", "会社=㍿", "東京=東京", "京都=京都",
		"ガス=ｶﾞｽ", "usa=U.S.A", "foo=Ｆｏｏ", "bar=bar"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestLongWords(t *testing.T) {
	long := strings.Repeat("é", 1<<16)
	got := newAnalyzer(t, unstemmed()).Terms(long + " x")
	if len(got) != 2 || got[0] != strings.Repeat("e", maxWord/2) {
		t.Errorf("%d terms, the first of %d bytes", len(got), len(got[0]))
	}
	if got := newAnalyzer(t, Options{Tokenizer: Plain, Stemmer: English}).Terms(long); len(got) != 1 || got[0] != long {
		t.Errorf("plain: %d terms", len(got))
	}
}
