package extract

import "testing"

func TestRST(t *testing.T) {
	d := wantOutline(t, "a.rst", "====\nBook\n====\n\n:Author: Ann A.\n:Date: 2024-03-05\n\nIntro.\n\nOne\n===\ntext\n\nTwo `x`\n-------\n\n* a\n\nThree\n=====\nend\n",
		"Book: :Author: Ann A. :Date: 2024-03-05 Intro.", "Book > One: text", "Book > One > Two x: * a", "Book > Three: end")
	wantMeta(t, d, "Book, Ann A., 2024-03-05")
	wantOutline(t, "a.rst", "A :sub:`2`\n==========\nx\n", "A 2: x")
	wantOutline(t, "a.rst", "para\n----\nis a title\n\ntwo\nlines\n-----\n", "para: is a title two lines -----")
	wantOutline(t, "a.rst", "==== ====\na    b\n==== ====\n", ": ==== ==== a b ==== ====")
	wantOutline(t, "a.rst", "Título largo\n=====\nx\n", ": Título largo ===== x")
}

func TestAsciiDoc(t *testing.T) {
	d := wantOutline(t, "a.adoc", "= Book *x*\nAnn A. <a@b.c>\n:revdate: 2024-03-05\n\nIntro.\n\n== One\n----\n== no\n----\n=== Two ===\ntext\n\nOld\n~~~\nend\n",
		"Book x: Ann A. <a@b.c> :revdate: 2024-03-05 Intro.", "Book x > One: ---- == no ----", "Book x > One > Two: text", "Book x > One > Old: end")
	wantMeta(t, d, "Book x, Ann A., 2024-03-05")
	wantOutline(t, "a.asciidoc", "----\n== open block\nfound\n", ": ----", "open block: found")
}

func TestOrg(t *testing.T) {
	d := wantOutline(t, "a.org", "#+TITLE: Notes\n#+AUTHOR: Ann\n#+DATE: <2024-03-05 Tue>\n* TODO [#A] One =x= :tag:a:\ntext\n*** [[http://a][Two]]\n*bold*\n#+BEGIN_SRC\n* Three\n",
		": #+TITLE: Notes #+AUTHOR: Ann #+DATE: <2024-03-05 Tue>", "One x: text", "One x > Two: *bold* #+BEGIN_SRC", "Three: ")
	wantMeta(t, d, "Notes, Ann, 2024-03-05")
}

func TestLaTeX(t *testing.T) {
	d := wantOutline(t, "a.tex", "\\title{The \\emph{Book}}\n\\author{Ann}\n\\begin{document}\n\\begin{abstract}\nshort\n\\section*{One}\\label{s}\n% \\section{no}\n\\begin{verbatim}\n\\section{no}\n\\end{verbatim}\n\\subsection[s]{Two \\&\nthree}\ntext\n",
		": \\title{The \\emph{Book}} \\author{Ann} \\begin{document}", "Abstract: short",
		"One: % \\section{no} \\begin{verbatim} \\section{no} \\end{verbatim}", "One > Two & three: text")
	wantMeta(t, d, "The Book, Ann, ")
	wantOutline(t, "a.tex", "\\section{open\n\ntext\n", ": \\section{open text")
}

func TestManualPages(t *testing.T) {
	d := wantOutline(t, "ls.1", ".\\\" comment\n.TH LS \"1\" \"May 2024\"\n.SH NAME\nls \\- list\n.SS \"\\fBSub part\\fR\"\ntext\n.SH\nOPTIONS\nmore\n",
		": .\\\" comment .TH LS \"1\" \"May 2024\"", "NAME: ls \\- list", "NAME > Sub part: text", "OPTIONS: more")
	wantMeta(t, d, "ls(1), , ")
	if d.Type != "man" {
		t.Error(d.Type)
	}
	wantOutline(t, "q.8", ".Dd May\n.Dt QUERN 8\n.Sh NAME\n.Nm quern\n", ": .Dd May .Dt QUERN 8", "NAME: .Nm quern")
	if d := wantOutline(t, "log.1", "a rotated log\n", ": a rotated log"); d.Type != "1" {
		t.Error(d.Type)
	}
}

func TestSubtitles(t *testing.T) {
	long := "1\n00:00:01,000 --> 00:00:02,000\n" + repeat("words of a cue ", 60) + "\n"
	d := read(t, "a.srt", long+"2\n00:01:03,000 --> 00:01:04,000\nsecond\n3\n00:02:03,000 --> 00:02:04,000\nthird\n")
	if len(d.Sections) != 2 || d.Sections[0].Heading[0] != "00:00:01" || d.Sections[1].Heading[0] != "00:01:03" || d.Sections[1].Start != len(long) {
		t.Errorf("%+v", d.Sections)
	}
	for name, text := range map[string]string{
		"a.vtt": "WEBVTT\n\n00:01.500 --> 00:02.000\nx\n", "a.ass": "[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,S,,0,0,0,,x\n", "a.lrc": "[00:01.00]x\n",
	} {
		if d := read(t, name, text); len(d.Sections[0].Heading) != 1 {
			t.Errorf("%s: %+v", name, d.Sections)
		}
	}
}
