/** One account in Settings: address, servers that use it, Test, Edit, Remove, and the outcome of the latest test. */

import { Fragment, useState } from "react";

import { Link } from "../../app/router";
import { Ago } from "../../ui/Ago";
import { reveal } from "../../ui/hidden";
import { Status, type Shape } from "../../ui/Status";
import { testAccount, useCheck, type LastCheck } from "./checks";
import { accountText, TEXT } from "./text";
import type { Account } from "./types";

interface Props {
  account: Account;
  onEdit: () => void;
  onRemove: () => void;
}

/** One account: whose it is, which servers use it, and whether it works. */
export function AccountRow({ account, onEdit, onRemove }: Props) {
  const check = useCheck(account.name);
  const [busy, setBusy] = useState(false);
  const state = stateOf(check, busy);
  async function test() {
    setBusy(true);
    await testAccount(account.name);
    setBusy(false);
  }
  return (
    <li className="setting-row account-row" data-account={account.name}>
      <div className="account-facts">
        <b className="medium">{reveal(account.name)}</b>
        {account.read_only && <span className="tag">{TEXT.readOnly}</span>}
        <p>{reveal(accountText(account))}</p>
        <p>
          <UsedBy servers={account.servers} />
          {check && !busy && (
            <>
              {" · tested "}
              <Ago when={check.at} />
              {check.identity ? ` as ${reveal(check.identity)}` : ""}
            </>
          )}
        </p>
      </div>
      <span className="setting-control">
        <span className="text-small" aria-live="polite">
          <Status shape={state.shape} word={state.word} />
        </span>
        <button type="button" className="btn small" disabled={busy} onClick={() => void test()}>
          {TEXT.test}
        </button>
        <button type="button" className="btn small" onClick={onEdit}>
          {TEXT.edit}
        </button>
        <button type="button" className="btn bare small danger" onClick={onRemove}>
          {TEXT.remove}
        </button>
      </span>
      {check && !busy && <Findings check={check} />}
    </li>
  );
}

function UsedBy({ servers }: { servers: readonly string[] }) {
  if (servers.length === 0) return TEXT.unused;
  return (
    <>
      {"used by "}
      {servers.map((server, index) => (
        <Fragment key={server}>
          {index > 0 && ", "}
          <Link href={`/servers/${encodeURIComponent(server)}`}>{reveal(server)}</Link>
        </Fragment>
      ))}
    </>
  );
}

/** Why a test failed and what to do, or what it found besides. */
function Findings({ check }: { check: LastCheck }) {
  if (!check.ok)
    return (
      <div className="error-box account-findings" role="alert">
        <p>
          <b>{reveal(check.error)}</b> {reveal(check.hint)}
        </p>
      </div>
    );
  if (check.remarks.length === 0) return null;
  return (
    <ul className="account-findings account-remarks">
      {check.remarks.map((remark) => (
        <li key={remark} className="secondary text-small">
          {reveal(remark)}
        </li>
      ))}
    </ul>
  );
}

function stateOf(check: LastCheck | undefined, busy: boolean): { shape: Shape; word: string } {
  if (busy) return { shape: "work", word: TEXT.testing };
  if (!check) return { shape: "off", word: TEXT.notTested };
  return check.ok ? { shape: "done", word: TEXT.works } : { shape: "fail", word: TEXT.failed };
}
