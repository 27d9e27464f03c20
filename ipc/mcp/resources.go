package mcp

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"quern/ipc"
)

// The resources: quern://index/document?path=… is a document's text as indexed,
// quern://index/passage?path=…&n=… one of its passages.
const (
	documentTemplate = "quern://index/document{?path}"
	passageTemplate  = "quern://index/passage{?path,n}"
)

func (b bridge) addResources(s *sdk.Server) {
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "document", Description: "A document's text as indexed.", URITemplate: documentTemplate, MIMEType: "text/plain",
	}, b.resource)
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "passage", Description: "Passage n of a document, from 0.", URITemplate: passageTemplate, MIMEType: "text/plain",
	}, b.resource)
}

// resource reads a document or a passage. Its freshness and its provenance are in
// the metadata.
func (b bridge) resource(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	u, err := url.Parse(req.Params.URI)
	if err != nil {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	p := ipc.PassagesParams{Path: u.Query().Get("path")}
	if u.Path == "/passage" {
		n, err := strconv.Atoi(u.Query().Get("n"))
		if err != nil {
			return nil, sdk.ResourceNotFoundError(req.Params.URI)
		}
		p.N = &n
	}
	fresh, err := b.sync(ctx)
	if err != nil {
		return nil, errors.New(explained(err))
	}
	var r ipc.PassagesResult
	err = b.daemon.Call(ctx, ipc.MethodPassages, p, &r)
	if errors.Is(err, &ipc.Error{Code: ipc.CodeNotFound}) {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	if err != nil {
		return nil, errors.New(explained(err))
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{
		URI: req.Params.URI, MIMEType: "text/plain", Text: joined(r.Passages), Meta: sdk.Meta{
			"path": r.Path, "modified": r.Modified, "generation": r.Generation, "fresh": fresh, "untrusted": true,
		},
	}}}, nil
}

// joined is the text of passages, with an empty line between two.
func joined(all []ipc.Passage) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = strings.TrimRight(p.Text, "\n")
	}
	return strings.Join(texts, "\n\n") + "\n"
}
