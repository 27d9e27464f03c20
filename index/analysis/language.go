package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The language of a text is told by its script, and where several languages share
// that, by how many of each language's commonest words it has, and letters that
// only it writes. A text that tells nothing counts as English, whose stemmer
// leaves words of other languages mostly as they are.

// language is one that a stemmer is chosen for by Auto.
type language struct {
	name    string
	letters string // that tell it, beside words
	words   string // its commonest, without those that mean something elsewhere
}

// languages are those in the Latin script; the first is the one of a text that
// tells nothing.
var languages = []language{
	{English, "", ""}, // its words are those of the list of stop words
	{"french", "œùêîû", `le la les des du de et est une un dans que qui pour pas sur avec sont ce cette ces au aux par plus
		il elle nous vous ils elles mais ou où ne se son sa ses leur leurs être été avoir fait comme tout tous si sans mon ma mes votre notre quand comment`},
	{"german", "ßäü", `der die das und ist nicht ein eine einen einem einer eines den dem des mit auf für von zu im sich auch es
		wird werden wie aber oder wenn nach bei aus nur noch so sind war hat haben kann ich wir ihr sie dass durch über um zum zur vom mein kein keine wo was`},
	{"spanish", "ñ¿¡", `el la los las de del que y en un una es por con para se no su al lo como más pero sus le ya o este
		sí porque esta entre cuando muy sin sobre también me hasta hay donde son fue están qué cómo mi`},
	{"italian", "", `il lo la i gli le di del della dei delle che e è un una in con per non si da nel nella sono al alla come più
		anche ma se questo questa essere ha hanno dal dalla suo loro quando dove mio nostro`},
	{"portuguese", "ãõ", `o a os as de do da dos das que e em um uma é não com para por se no na nos nas mais como mas ao
		foi ele ela seu sua ou quando muito já também só pelo pela até isso são meu você`},
	{"dutch", "", `de het een en van is dat op te in voor met zijn niet aan er om ook als bij naar uit maar dan nog wel
		of door over deze dit wordt worden heeft hebben kan ik je hij zij wij hun mijn geen waar hoe`},
	{"swedish", "åäö", `och att det är en ett som på för av med den inte till har de om jag från men var så kan när vi ska
		eller hur min sin också efter utan under mellan dessa detta vad`},
	{"danish", "øå", `og at det er en et som på for af med den ikke til har de om jeg fra men var så kan når vi skal
		eller hvordan min sin også efter uden under mellem disse dette hvad blev være`},
	{"norwegian", "øå", `og at det er en et som på for av med den ikke til har de om jeg fra men var så kan når vi skal
		eller hvordan min sin også etter uten under mellom disse dette hva ble være`},
	{"finnish", "äö", `ja on ei että se oli hän mutta kun ovat myös tai jos niin kuin joka mitä tämä sen en minä sitä ole
		olla siitä vain jo kanssa voi mukaan miten missä mikä sekä ennen jälkeen`},
	{"hungarian", "őű", `a az és hogy nem is egy van volt meg de csak már ez azt mint vagy ha el lesz kell lehet minden
		még aki ami után szerint hogyan mikor hol nagyon`},
	{"romanian", "țșăţ", `și în de la cu pe nu este sunt un o care din pentru mai ca să se al ale dar sau prin după fost
		cum când unde foarte această acest`},
	{"turkish", "ığş", `ve bir bu için ile da de ne çok daha gibi olarak olan en kadar ama var yok değil mi mı her ya ben
		sen o biz siz onlar nasıl neden sonra önce nerede`},
}

// scriptLanguages are languages that their script tells.
var scriptLanguages = []struct {
	script *unicode.RangeTable
	name   string
}{
	{unicode.Cyrillic, "russian"}, {unicode.Arabic, "arabic"}, {unicode.Tamil, "tamil"},
}

// commonWords are the commonest words of a language.
func commonWords(name string) []string {
	if name == "russian" {
		return strings.Fields(russianWords)
	}
	for _, l := range languages {
		if l.name == name {
			return strings.Fields(l.words)
		}
	}
	return nil
}

const russianWords = `и в не на я что с он а как это по но к у из за о от так же для или мы вы они она его ее был была были
	быть если когда чтобы где мой бы только ли при`

// evidence says by bits, in the order of languages, whose a word or a letter is.
var (
	wordEvidence   = map[string]uint32{}
	letterEvidence = map[rune]uint32{}
)

func init() {
	for i, l := range languages {
		words := strings.Fields(l.words)
		if l.name == English {
			words = strings.Fields(englishList)
		}
		for _, w := range words {
			wordEvidence[w] |= 1 << i
		}
		for _, r := range l.letters {
			letterEvidence[r] |= 1 << i
		}
	}
}

// sample is how much of a text is looked at, in bytes.
const sample = 4096

// tally is what was counted in a text.
type tally struct {
	latin, words int
	scripts      [3]int // letters, in the order of scriptLanguages
	votes        [32]int
}

func count(text []byte) (c tally) {
	if len(text) > sample {
		text = text[:sample]
	}
	var word []byte
	var letters uint32
	for pos := 0; pos < len(text); {
		r, n := utf8.DecodeRune(text[pos:])
		pos += n
		if !unicode.IsLetter(r) && r != '\'' {
			c.vote(word, letters)
			word, letters = word[:0], 0
			continue
		}
		c.letter(r)
		r = unicode.ToLower(r)
		word = utf8.AppendRune(word, r)
		if r >= utf8.RuneSelf {
			letters |= letterEvidence[r]
		}
	}
	c.vote(word, letters)
	return c
}

// letter counts a letter's script.
func (c *tally) letter(r rune) {
	if r < utf8.RuneSelf || unicode.Is(unicode.Latin, r) {
		c.latin++
		return
	}
	for i, s := range scriptLanguages {
		if unicode.Is(s.script, r) {
			c.scripts[i]++
		}
	}
}

// vote counts a word for the languages it may be of.
func (c *tally) vote(word []byte, letters uint32) {
	if len(word) == 0 {
		return
	}
	c.words++
	if len(word) == 1 { // what stands for a number, or a variable
		return
	}
	for i, bits := 0, wordEvidence[string(word)]|letters; bits != 0; i, bits = i+1, bits>>1 {
		c.votes[i] += int(bits & 1)
	}
}

// script is the language that most of the letters tell, if any.
func (c *tally) script() string {
	for i, n := range c.scripts {
		if n > c.latin {
			return scriptLanguages[i].name
		}
	}
	return ""
}

// best is the language with the most votes, the first of several; lead is by how
// many it is before English.
func (c *tally) best() (i, lead int) {
	for j := range languages {
		if c.votes[j] > c.votes[i] {
			i = j
		}
	}
	return i, c.votes[i] - c.votes[0]
}

// A language other than English needs one vote in so many words, and so many
// votes.
const (
	share      = 10
	leastVotes = 3
)

// languageOf is the language of a text that is to be indexed.
func languageOf(text []byte) string {
	c := count(text)
	if s := c.script(); s != "" {
		return s
	}
	if i, lead := c.best(); lead > 0 && c.votes[i] >= max(leastVotes, c.words/share) {
		return languages[i].name
	}
	return English
}

// queryLanguages are those that a query may be in: one, if it tells.
func queryLanguages(text []byte) (out []string) {
	c := count(text)
	if s := c.script(); s != "" {
		return []string{s}
	}
	if i, lead := c.best(); lead >= 2 {
		return []string{languages[i].name}
	} else if lead == 0 && c.votes[0] > 0 {
		return []string{English}
	}
	for _, l := range languages {
		out = append(out, l.name)
	}
	return out
}
