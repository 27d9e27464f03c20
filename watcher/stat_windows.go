package watcher

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// identify asks Windows for a directory's identity, which takes an open handle;
// a file's would cost one for every file of a scan and is left unknown.
func identify(path string, fi fs.FileInfo) (ident, int64, uint64) {
	if !fi.IsDir() {
		return ident{}, 0, 0
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return ident{}, 0, 0
	}
	h, err := windows.CreateFile(name, 0, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return ident{}, 0, 0
	}
	defer windows.CloseHandle(h)
	var d windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(h, &d) != nil {
		return ident{}, 0, 0
	}
	return ident{uint64(d.VolumeSerialNumber), uint64(d.FileIndexHigh)<<32 | uint64(d.FileIndexLow)}, 0, 0
}
