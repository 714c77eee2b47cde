import { Copy } from "../../ui/Copy";
import { Dialog } from "../../ui/Dialog";
import { WORDS } from "./words";

/** A token, once. */
export function TokenShown({ view, token, onClose }: { view: string; token: string; onClose: () => void }) {
  return (
    <Dialog title={`The token of ${view}`} onClose={onClose}>
      <div style={{ padding: "14px 14px 18px" }}>
        <p className="q">{WORDS.copyNow}</p>
        <pre className="code wrap" style={{ margin: "10px 0" }}>
          {token}
        </pre>
        <Copy text={token} />
      </div>
    </Dialog>
  );
}
