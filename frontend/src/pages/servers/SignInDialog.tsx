import { useEffect, useState } from "react";

import { stream } from "../../api/client";
import { queries } from "../../api/hooks";
import { notify } from "../../app/notices";
import { Status } from "../../ui/Status";
import { Trouble } from "../../ui/Trouble";
import { Frame } from "../add/Frame";

/** Signs in to a remote server: its page opens in a tab of its own, this waits for the outcome. */
export function SignInDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const [address, setAddress] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setError(null);
    setAddress("");
    stream("login", { name }, (news) => setAddress(safe(news.open)), abort.signal).then(
      () => {
        void queries.invalidateQueries();
        notify(`Signed in to “${name}”.`);
        onClose();
      },
      (caught: unknown) => !abort.signal.aborted && setError(caught),
    );
    return () => abort.abort();
    // `onClose` is new with every draw of the list; the sign-in must not begin anew for that.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [name, tries]);
  return (
    <Frame
      title={`Sign in to ${name}`}
      onClose={onClose}
      foot={
        <>
          <span className="grow m t12">Toolcrib never sees your password</span>
          <button type="button" className="btn" onClick={onClose}>Cancel</button>
          {address && !error && <a className="btn pri" href={address} target="_blank" rel="noopener noreferrer">Open the sign-in page</a>}
        </>
      }
    >
      {error === null ? (
        <>
          <Status shape="work" word={address ? "Waiting for you to sign in there" : "Asking the server where to sign in"} />
          {address && <><p className="q" style={{ margin: "10px 0" }}>The page opens in a tab of its own. This is its whole address.</p><div className="cmd">{address}</div></>}
        </>
      ) : (
        <Trouble error={error} again={() => setTries(tries + 1)} />
      )}
    </Frame>
  );
}

/** Only what a browser may open as a page. */
function safe(address: string): string {
  return /^https?:\/\//i.test(address) ? address : "";
}
