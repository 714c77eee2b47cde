/** The accounts that a bundled server uses, on its page; nothing for a server that uses none. */

import { useState } from "react";

import { refreshOn, useOperation } from "../../api/hooks";
import { Link } from "../../app/router";
import { reveal } from "../../ui/hidden";
import { AccountDialog } from "../accounts/AccountDialog";
import { accountText } from "../accounts/text";
import { providersFor } from "./accountProviders";
import { ACCOUNTS } from "./text";

refreshOn("config", "account_list");

/** The accounts that a bundled server uses; nothing for a server that uses none. */
export function Accounts({ name, type }: { name: string; type: string }) {
  const enabled = type === "inprocess";
  const entry = useOperation("entry", { name }, { enabled }).data;
  const providers = useOperation("account_providers", {}, { enabled }).data ?? [];
  const accounts = useOperation("account_list", {}, { enabled }).data;
  const [adding, setAdding] = useState(false);
  const kinds = providersFor(entry?.text ?? "", providers);
  if (kinds.length === 0 || !accounts) return null;
  const used = accounts.filter((account) => account.servers.includes(name));
  return (
    <section className="panel space-below-12" aria-label={ACCOUNTS.title}>
      <div className="panel-head">
        <h2 className="grow">{ACCOUNTS.title}</h2>
        {used.length > 0 && <Link href="/settings#accounts">{ACCOUNTS.manage}</Link>}
        <button type="button" className="btn small" onClick={() => setAdding(true)}>
          {ACCOUNTS.add}
        </button>
      </div>
      {used.length === 0 && <p className="secondary account-note">{ACCOUNTS.none}</p>}
      {used.length > 0 && (
        <dl className="details">
          {used.map((account) => (
            <div key={account.name} className="contents">
              <dt className="break-anywhere">{reveal(account.name)}</dt>
              <dd>
                {reveal(accountText(account))} {account.read_only && <span className="tag">{ACCOUNTS.readOnly}</span>}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {adding && <AccountDialog only={kinds} onClose={() => setAdding(false)} />}
    </section>
  );
}
