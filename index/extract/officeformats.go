package extract

import "strings"

// officeTypes are the types that parseOffice reads.
const officeTypes = `docx docm dotx dotm doc dot pptx pptm ppsx ppsm potx potm ppt pps pot xlsx xlsm xltx xltm xlam
	xlsb xls xlt xla vsdx vsdm vstx vssx odt ott odm oth fodt ods ots fods odp otp fodp odg otg fodg
	odf odc sxw stw sxc stc sxi sti sxd epub fb2 rtf abw ole-encrypted`

func init() {
	for _, t := range strings.Fields(officeTypes) {
		raw[t], parsers[t] = true, parseOffice
	}
}
