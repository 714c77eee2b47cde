/** Shows a new token of a profile once, to be copied. */

import { Copy } from "../../ui/Copy";
import { Dialog } from "../../ui/Dialog";
import { TEXT } from "./text";

/** A token, once. */
export function TokenDialog({ view, token, onClose }: { view: string; token: string; onClose: () => void }) {
  return (
    <Dialog title={`Token for ${view}`} onClose={onClose}>
      <div className="dialog-body">
        <p className="secondary">{TEXT.copyNow}</p>
        <pre className="code wrap block-space">{token}</pre>
        <Copy text={token} />
      </div>
    </Dialog>
  );
}
