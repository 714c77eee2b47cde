/** Signing in to a remote server (OAuth): shows the full address, waits for the outcome, and asks if hosts do not
 * belong together. The host does the sign-in and has its time limit. */

import { useEffect, useEffectEvent, useState } from "react";

import { stream } from "../../api/client";
import { ApiError } from "../../api/errors";
import { queries } from "../../api/hooks";
import { notify } from "../../app/notices";
import { ErrorBox } from "../../ui/ErrorBox";
import { reveal } from "../../ui/hidden";
import { OutsideButton } from "../../ui/OutsideLink";
import { Status } from "../../ui/Status";
import { StepDialog } from "../add/StepDialog";
import { SIGN_IN_HOSTS } from "./text";

type Hosts = Record<string, string>;

/** Signs in to a remote server: its page opens in a tab of its own, this waits for the outcome. */
export function SignInDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const [page, setPage] = useState({ open: "", issuer: "" });
  const [error, setError] = useState<unknown>(null);
  const [request, setRequest] = useState<{ hosts: Hosts }>({ hosts: {} });
  const finish = useEffectEvent(() => {
    void queries.invalidateQueries();
    notify(`Signed in to “${name}”.`);
    onClose();
  });
  useEffect(() => {
    const abort = new AbortController();
    setError(null);
    setPage({ open: "", issuer: "" });
    stream("login", { name, hosts: request.hosts }, setPage, abort.signal).then(
      finish,
      (caught: unknown) => !abort.signal.aborted && setError(caught),
    );
    return () => abort.abort();
  }, [name, request]);
  const unconfirmed = hostsOf(error);
  return (
    <StepDialog
      title={`Sign in to ${name}`}
      alert={unconfirmed !== null}
      onClose={onClose}
      foot={
        <>
          <span className="grow muted text-small">Toolcrib never sees your password</span>
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          {unconfirmed && (
            <button type="button" className="btn" onClick={() => setRequest({ hosts: unconfirmed })}>
              {SIGN_IN_HOSTS.confirm}
            </button>
          )}
          {!error && <OutsideButton address={page.open}>Open sign-in page</OutsideButton>}
        </>
      }
    >
      {error === null ? (
        <>
          <Status shape="work" word={page.open ? "Waiting for you to sign in" : "Requesting the sign-in page"} />
          {page.open && (
            <>
              <p className="secondary block-space">
                You sign in at <b className="medium break-anywhere">{reveal(page.issuer)}</b>. The page opens in a new
                tab. This is its full address.
              </p>
              <div className="command-box">{reveal(page.open)}</div>
            </>
          )}
        </>
      ) : unconfirmed ? (
        <Unconfirmed message={(error as ApiError).message} hosts={unconfirmed} />
      ) : (
        <ErrorBox error={error} again={() => setRequest({ hosts: request.hosts })} />
      )}
    </StepDialog>
  );
}

/** The hosts that the user has to confirm first, by their part in the sign-in; null if the error is another one. */
function hostsOf(error: unknown): Hosts | null {
  return error instanceof ApiError && error.kind === "hosts_not_confirmed" ? (error.details["data"] as Hosts) : null;
}

function Unconfirmed({ message, hosts }: { message: string; hosts: Hosts }) {
  return (
    <div role="alert">
      <p className="bold">{SIGN_IN_HOSTS.title}</p>
      <p className="secondary block-space">{reveal(message)}</p>
      <div className="command-box">
        {Object.entries(hosts).map(([part, host]) => (
          <div key={part} className="command-line">
            {SIGN_IN_HOSTS.parts[part] ?? part}: {reveal(host)}
          </div>
        ))}
      </div>
    </div>
  );
}
