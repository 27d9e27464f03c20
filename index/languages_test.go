package index

import (
	"testing"

	"quern/index/analysis"
)

// A query as somebody would type it who speaks the language finds the passage,
// whatever form its words have there, beside passages in other languages.
func TestNativeQueriesFindTheirPassage(t *testing.T) {
	o := plainOptions()
	o.Analysis = analysis.Default()
	o.Analysis.Stemmer = analysis.Auto
	e := openEngine(t, o)
	texts := map[string]string{
		"/en": "Refunds are paid within five days after the finance team has approved them.",
		"/zh": "退款将在财务部门批准后的五个工作日内退回到原来的银行卡。",
		"/ja": "返金は経理部の承認後、五営業日以内に元のカードに振り込まれます。",
		"/ko": "환불은 재무팀이 승인한 뒤 영업일 기준 닷새 안에 원래 카드로 입금됩니다.",
		"/th": "การคืนเงินจะเข้าบัตรใบเดิมภายในห้าวันทำการหลังจากฝ่ายการเงินอนุมัติ",
		"/ar": "تُعادُ المبالغُ إلى البطاقة الأصلية خلال خمسة أيام عمل بعد موافقة قسم المحاسبة على الطلبات.",
		"/hi": "वित्त विभाग की मंज़ूरी के बाद पाँच कार्य दिवसों में पैसे उसी कार्ड पर वापस आ जाते हैं।",
		"/ru": "Деньги возвращаются на карту в течение пяти рабочих дней после того, как бухгалтерия одобрит возвраты.",
		"/de": "Die Rückerstattungen werden nach der Genehmigung durch die Buchhaltung innerhalb von fünf Werktagen auf die Kreditkarten gebucht.",
		"/tr": "Iade edilen paralar, muhasebe onayından sonra beş iş günü içinde kartınıza yatırılır ve evin ışıkları gibi bir bildirim gelir.",
		"/fi": "Hyvitykset maksetaan takaisin kortille viiden arkipäivän kuluessa siitä, kun kirjanpito on ne hyväksynyt, ja tästä tulee viesti.",
		"/fr": "Les remboursements sont versés sur la carte d’origine dans les cinq jours après l’accord de la comptabilité.",
		"/es": "Los reembolsos se pagan en la tarjeta original cinco días después de que los apruebe la contabilidad.",
	}
	var changes []Change
	for path, text := range texts {
		changes = append(changes, putText(path, text))
	}
	apply(t, e, changes...)
	for _, c := range []struct{ query, path string }{
		{"refund", "/en"}, {"refunding days", "/en"},
		{"退款", "/zh"}, {"银行卡 退款", "/zh"},
		{"返金", "/ja"}, {"カードに返金", "/ja"},
		{"환불", "/ko"}, {"카드", "/ko"},
		{"คืนเงิน", "/th"}, {"บัตร", "/th"},
		{"المبالغ", "/ar"}, {"مبلغ الطلب", "/ar"}, {"البطاقة", "/ar"},
		{"पैसे वापस", "/hi"}, {"कार्ड", "/hi"}, {"वित्त विभाग", "/hi"},
		{"возврат", "/ru"}, {"рабочий день", "/ru"}, {"КАРТА", "/ru"},
		{"Rückerstattung", "/de"}, {"Kreditkarte", "/de"}, {"rueckerstattung buchen genehmigungen", "/de"}, {"RÜCKERSTATTUNG", "/de"},
		{"iade", "/tr"}, {"İADE", "/tr"}, {"ışık", "/tr"}, {"IŞIK", "/tr"}, {"kartlar", "/tr"},
		{"arkipäivä", "/fi"}, {"kirjanpidon hyvitykset", "/fi"}, {"kortti", "/fi"}, {"takaisin", "/fi"},
		{"remboursement", "/fr"}, {"comptabilité", "/fr"}, {"cinq jour", "/fr"},
		{"reembolso", "/es"}, {"tarjetas", "/es"},
	} {
		for _, model := range []Model{Best, TFIDF} {
			r := search(t, e.Snapshot(), c.query, SearchOptions{K: 1, Model: model})
			if len(r.Hits) == 0 || r.Hits[0].Document.Path != c.path {
				t.Errorf("%s: %q does not find %s: %s", model, c.query, c.path, show(r))
			}
		}
	}
}

// Width, ligatures, case and diacritics make no other word (NFKC and full case
// folding).
func TestCompatibilityForms(t *testing.T) {
	o := plainOptions()
	o.Analysis = analysis.Default()
	o.Analysis.Stemmer = analysis.Auto
	e := openEngine(t, o)
	apply(t, e, putText("/a", "ＡＢＣ ﬁle naı̈ve Straße ½ Ⅷ"), putText("/b", "nothing of the kind"))
	for _, q := range []string{"abc", "FILE", "naive", "strasse", "STRASSE", "viii"} {
		if r := search(t, e.Snapshot(), q, SearchOptions{K: 1, Model: Best}); len(r.Hits) == 0 || r.Hits[0].Document.Path != "/a" {
			t.Errorf("%q finds %s", q, show(r))
		}
	}
}
