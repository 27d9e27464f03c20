;; Asks the daemon at $SOCKET with Emacs' own JSON-RPC code and prints what it got as JSON.
(require 'jsonrpc)
(require 'json)
(defvar quern-changed nil)
(defun quern-connect ()
  (make-instance
   'jsonrpc-process-connection
   :name "quern"
   :process (make-network-process :name "quern" :family 'local :service (getenv "SOCKET") :coding 'binary)
   :notification-dispatcher
   (lambda (_conn method params) (when (eq method 'changed) (setq quern-changed params)))))
(let* ((conn (quern-connect))
       (found (jsonrpc-request conn :search '(:query "billing refunds" :sync t :sync_timeout_ms 60000) :timeout 60))
       (code (condition-case err
                 (jsonrpc-request conn :search '(:query "x" :limit 1))
               (jsonrpc-error (alist-get 'jsonrpc-error-code (cdr err)))))
       (listening (quern-connect)) ; a connection of its own: see docs/protocol.md
       (deadline (+ (float-time) 60)))
  (jsonrpc-request listening :subscribe '(:progress :json-false))
  (with-temp-file (getenv "NEW") (insert "A new text about billing.\n"))
  (while (and (not quern-changed) (< (float-time) deadline))
    (accept-process-output nil 0.05))
  (princ (json-encode (list :total (plist-get found :total) :code code :added (plist-get quern-changed :added)))))
