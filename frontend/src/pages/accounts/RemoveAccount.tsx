/** The question before an account is removed: which servers stop working, which keep working with another account. */

import { useState } from "react";

import { run } from "../../api/client";
import { queries } from "../../api/hooks";
import { notify } from "../../app/notices";
import { Dialog } from "../../ui/Dialog";
import { ErrorBox } from "../../ui/ErrorBox";
import { reveal } from "../../ui/hidden";
import { forgetCheck } from "./checks";
import { accountText, REMOVE, removalTexts } from "./text";
import type { Account } from "./types";

interface Props {
  account: Account;
  accounts: readonly Account[];
  onClose: () => void;
}

/** Says what stops working, then removes the account and its secret. */
export function RemoveAccount({ account, accounts, onClose }: Props) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function remove() {
    setBusy(true);
    setError(null);
    try {
      const { remarks } = await run("account_remove", { name: account.name });
      forgetCheck(account.name);
      notify([REMOVE.removed(account.name), ...remarks].join(" "));
      onClose();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
    void queries.invalidateQueries();
  }
  return (
    <Dialog title={REMOVE.title(reveal(account.name))} onClose={onClose}>
      <div className="dialog-body">
        <p className="medium break-anywhere">{reveal(accountText(account))}</p>
        {removalTexts(account, accounts).map((text) => (
          <p key={text} className="secondary space-above-6">
            {reveal(text)}
          </p>
        ))}
        <p className="secondary space-above-6">{REMOVE.secret}</p>
        {error !== null && (
          <div className="space-above-12">
            <ErrorBox error={error} />
          </div>
        )}
        <div className="row align-end space-above-16">
          <button type="button" className="btn" onClick={onClose}>
            {REMOVE.keep}
          </button>
          <button type="button" className="btn danger" disabled={busy} onClick={() => void remove()}>
            {busy ? REMOVE.removing : REMOVE.remove}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
