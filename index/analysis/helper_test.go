package analysis

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func newAnalyzer(t testing.TB, o Options) *Analyzer {
	t.Helper()
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// unstemmed is the unicode tokenizer alone.
func unstemmed() Options {
	return Options{Tokenizer: Unicode, Stopwords: None, Stemmer: None, FoldDiacritics: true}
}

// pieces are what generated texts are made of.
var pieces = strings.Fields(`
	the of And a to word Word WORD refund billing's don't l'eau L’eau d’ c'mon U.S.A. e.g. os.Open a.b.c foo_bar x1 3.14 1,000 1'000 v1.26 -- ' . , : ; " _ / # \x00 a.É U.S.É
	Straße STRASSE ßß naïve ÉLÈVE e\u0301 E\u0301\u0323 İstanbul ıI ﬁ ŉ ǅ ǆ ŀ l·l ĳ Ｆｕｌｌ ｆ＿ｇ ½ ① Ⓐ ㎏ ™ ª ² ﷺ ㍿ ヿ ゟ
	ΛΌΓΟΣ λόγος ᾳ ᾴ α\u0345 Ἀχιλλεύς ёлка е\u0308 ЙОД и\u0306 ѓ г\u0301 за\u0301мок Їжак п'ять Թիւնք ქართული ᲥᲐᲠᲗᲣᲚᲘ
	مُحَمَّد كتـــاب آب أب ؤ ئ ٣٤ می\u200cروم שָׁלוֹם צה״ל צה"ל ג׳ירפה हिन्दी क़ क\u093C की ক্ষ தமிழ் ภาษา ไทยน้ำ ๓ ລາວ ខ្មែរ မြန်မာ བོད་ཡིག
	東京 都 食べる カタカナ ガ カ\u3099 ｶﾞ ﾊﾟ ー 々 〇 一 ⼀ 豈 학교 학 ㄱㅏ ᄒ\u1161\u11ab ｱ ﾡￂ 日本語text text日本語 Go언어 3월 葛\U000E0100
	😀 a\u200d😀 👩\u200d👩 1\ufe0f\u20e3 🇩🇪 \u00ad soft\u00adhyphen \u200b \u2060 \ufeff \u0301 \u0345 \u3099 \u202e \u2028 \u00a0
	\xff \xc3 \xe2\x80 \xed\xa0\x80 \xf4\x90\x80\x80`)

func init() {
	for i, p := range pieces {
		pieces[i] = unquote(p)
	}
}

// unquote reads the escapes of a piece; quotes stand for themselves.
func unquote(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		size := map[byte]int{'x': 2, 'u': 4, 'U': 8}
		if s[0] == '\\' && len(s) > 1 && size[s[1]] > 0 {
			n := size[s[1]]
			var r rune
			for _, c := range s[2 : 2+n] {
				r = r<<4 | rune(strings.IndexRune("0123456789abcdef", c|0x20))
			}
			if n == 2 {
				b.WriteByte(byte(r))
			} else {
				b.WriteRune(r)
			}
			s = s[2+n:]
			continue
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
	return b.String()
}

// randomText joins pieces, with and without spaces, and now and then any
// character below a limit.
func randomText(r *rand.Rand, limit int) string {
	var b strings.Builder
	for range r.IntN(40) {
		switch r.IntN(8) {
		case 0:
			b.WriteRune(rune(r.IntN(0x3000)))
		case 1:
			b.WriteRune(rune(r.IntN(limit)))
		default:
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		if r.IntN(3) > 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
