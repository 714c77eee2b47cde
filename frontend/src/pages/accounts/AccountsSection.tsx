/** The section Accounts of Settings: the list, "Add account", and opening the form from a link (`?account=add`). */

import { useEffect, useRef, useState } from "react";

import { refreshOn, useOperation } from "../../api/hooks";
import { setSearch, useSearch } from "../../app/router";
import { ErrorBox } from "../../ui/ErrorBox";
import { Icon } from "../../ui/Icon";
import { LearnMore } from "../../ui/LearnMore";
import { Loading } from "../../ui/Loading";
import { AccountDialog } from "./AccountDialog";
import { AccountRow } from "./AccountRow";
import { RemoveAccount } from "./RemoveAccount";
import { TEXT } from "./text";
import type { Account } from "./types";

for (const kind of ["config", "server", "server_removed"] as const) refreshOn(kind, "account_list");

type Open = { what: "add" } | { what: "edit" | "remove"; account: Account };

/** The accounts that tools may use; `?account=add` opens the form. */
export function AccountsSection() {
  const { data, error, refetch } = useOperation("account_list", {});
  const section = useRef<HTMLElement>(null);
  const [open, setOpen] = useState<Open | null>(null);
  const wanted = useSearch().get("account");
  useEffect(() => {
    if (wanted === null) return;
    section.current?.scrollIntoView();
    setOpen({ what: "add" });
    setSearch({ account: null }); // So that the same link works again.
  }, [wanted]);
  const close = () => setOpen(null);
  return (
    <section className="settings-section" id="accounts" ref={section}>
      <h2>{TEXT.title}</h2>
      <p>{TEXT.about}</p>
      {error && <ErrorBox error={error} again={() => void refetch()} />}
      {!data && !error && <Loading rows={1} />}
      {data?.length === 0 && (
        <p className="muted">
          {TEXT.empty} <LearnMore page="accounts.html" />
        </p>
      )}
      {data && data.length > 0 && (
        <ul aria-label={TEXT.title}>
          {data.map((account) => (
            <AccountRow
              key={account.name}
              account={account}
              onEdit={() => setOpen({ what: "edit", account })}
              onRemove={() => setOpen({ what: "remove", account })}
            />
          ))}
        </ul>
      )}
      <button type="button" className="btn bare small space-above-8" onClick={() => setOpen({ what: "add" })}>
        <Icon name="plus" small />
        {TEXT.add}
      </button>
      {open?.what === "add" && <AccountDialog onClose={close} />}
      {open?.what === "edit" && <AccountDialog account={open.account} onClose={close} />}
      {open?.what === "remove" && <RemoveAccount account={open.account} accounts={data ?? []} onClose={close} />}
    </section>
  );
}
