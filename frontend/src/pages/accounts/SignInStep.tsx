/** Waiting for a sign-in at the provider: shows the full address and opens it in a new tab. The host decides how long
 * it waits. */

import { useEffect, useEffectEvent } from "react";

import { webAddress } from "../../ui/address";
import { ErrorBox } from "../../ui/ErrorBox";
import { OutsideButton } from "../../ui/OutsideLink";
import { Status } from "../../ui/Status";
import { StepDialog } from "../add/StepDialog";
import { signInResult, type SignInResult } from "./signIn";
import { FORM, SIGN_IN } from "./text";

interface Props {
  title: string;
  id: string;
  url: string;
  onDone: (result: SignInResult) => void;
  onFailed: (error: unknown) => void;
  onCancel: () => void;
}

/** The provider's page opens in a tab of its own; this waits for the outcome. */
export function SignInStep({ title, id, url, onDone, onFailed, onCancel }: Props) {
  const address = webAddress(url);
  const done = useEffectEvent(onDone);
  const failed = useEffectEvent(onFailed);
  useEffect(() => {
    const abort = new AbortController();
    signInResult(id, abort.signal).then(done, (error: unknown) => {
      if (!abort.signal.aborted) failed(error);
    });
    return () => abort.abort();
  }, [id]);
  return (
    <StepDialog
      title={title}
      onClose={onCancel}
      foot={
        <>
          <span className="grow muted text-small">{SIGN_IN.never}</span>
          <button type="button" className="btn" onClick={onCancel}>
            {FORM.cancel}
          </button>
          <OutsideButton address={address}>{SIGN_IN.open}</OutsideButton>
        </>
      }
    >
      {address ? (
        <>
          <div role="status">
            <Status shape="work" word={SIGN_IN.waiting} />
          </div>
          <p className="secondary block-space">
            {SIGN_IN.about} {SIGN_IN.address}
          </p>
          <div className="command-box">{address}</div>
        </>
      ) : (
        <ErrorBox error={SIGN_IN.badAddress} />
      )}
    </StepDialog>
  );
}
