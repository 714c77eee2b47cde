/** The list of gateway profiles: who may use which tools, create, replace or revoke a token, allow access without one,
 * delete with undo. */

import { useState } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, useOperation, usePages } from "../../api/hooks";
import type { ProfileShown } from "../../api/types";
import { notify } from "../../app/notices";
import { Ago } from "../../ui/Ago";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { namedFirst } from "./order";
import { ProfileForm } from "./ProfileForm";
import { TokenDialog } from "./TokenDialog";
import { newToken } from "./tokens";
import { about, mayUse, tokenText, viewName } from "./profileText";
import { TEXT } from "./text";

/** The views that clients can have, and who needs a token for them. */
export function Profiles() {
  const views = useOperation("profile_list", {}).data ?? [];
  const [edited, setEdited] = useState<ProfileShown | "new" | null>(null);
  const [token, setToken] = useState<{ view: string; token: string } | null>(null);
  return (
    <section aria-label={TEXT.profiles}>
      <h2 className="profiles-title">{TEXT.profiles}</h2>
      <ul>
        <li className="profile-row profile-heads" aria-hidden="true">
          <span>Name</span>
          <span>Access</span>
          <span>Token</span>
          <span>Last used</span>
          <span />
        </li>
        {namedFirst(views).map((view) => (
          <ProfileRow key={view.name} view={view} onEdit={() => setEdited(view)} onToken={setToken} />
        ))}
      </ul>
      <button type="button" className="btn bare small space-above-8" onClick={() => setEdited("new")}>
        <Icon name="plus" small />
        {TEXT.add}
      </button>
      {edited !== null && <ProfileForm view={edited === "new" ? null : edited} onClose={() => setEdited(null)} />}
      {token && <TokenDialog view={token.view} token={token.token} onClose={() => setToken(null)} />}
    </section>
  );
}

interface RowProps {
  view: ProfileShown;
  onEdit: () => void;
  onToken: (made: { view: string; token: string }) => void;
}

function ProfileRow({ view, onEdit, onToken }: RowProps) {
  const tools = usePages("tools", {}).data ?? [];
  const use = useOperation("view_use", {}).data?.find((one) => one.name === view.name);
  const [wrong, setWrong] = useState("");

  /** True when it was done; what went wrong is said at the view. */
  async function attempt(act: () => Promise<unknown>): Promise<boolean> {
    setWrong("");
    try {
      await act();
      return true;
    } catch (error) {
      setWrong(sentence(error));
      return false;
    } finally {
      refresh();
    }
  }

  async function makeToken() {
    const made = await newToken();
    const kept = await attempt(() => run("profile_token", { name: view.name, token_hash: made.hash, tail: made.tail }));
    if (kept) onToken({ view: viewName(view), token: made.token });
  }

  /** Sets a token that no client has, so that all are refused until there is a new one. */
  async function revoke() {
    const { hash } = await newToken();
    if (await attempt(() => run("profile_token", { name: view.name, token_hash: hash }))) notify(TEXT.revoked);
  }

  async function open() {
    const opened = await attempt(() => run("profile_token", { name: view.name, token_hash: "" }));
    if (opened) notify(TEXT.opened(viewName(view)));
  }

  async function remove() {
    const { name, servers, tools: patterns, read_only, search, plain_names, k, always_on, approvals } = view;
    const shown = { servers, tools: patterns, read_only, search, plain_names, k, always_on };
    const back = { name, ...shown, approvals, replace: false };
    const removed = await attempt(() => run("profile_remove", { name }));
    if (removed)
      notify(
        TEXT.removed(name),
        () => void run("profile_add", back).then(refresh, (error: unknown) => notify(sentence(error))),
      );
  }

  const entries = [
    { name: view.token ? TEXT.newToken : TEXT.makeToken, onSelect: () => void makeToken() },
    ...(view.token
      ? [
          { name: TEXT.revoke, danger: true, onSelect: () => void revoke() },
          { name: TEXT.open, apart: true, onSelect: () => void open() },
        ]
      : []),
    ...(view.name ? [{ name: TEXT.deleteView, danger: true, apart: true, onSelect: () => void remove() }] : []),
  ];
  return (
    <li className="profile-row">
      <span>
        <b className="bold">{viewName(view)}</b>
        <br />
        <span className="muted text-small">{about(view, tools)}</span>
        {wrong && (
          <span className="text-small error-text block" role="alert">
            {wrong}
          </span>
        )}
      </span>
      <span className="secondary text-small">{mayUse(view, tools)}</span>
      <code className="profile-detail muted">{tokenText(view)}</code>
      <span className="profile-detail num secondary text-small">
        {use?.last_call ? <Ago when={use.last_call} /> : TEXT.never}
      </span>
      <span className="row profile-actions">
        {view.name && (
          <button type="button" className="btn bare small" onClick={onEdit}>
            {TEXT.edit}
          </button>
        )}
        <Menu
          entries={entries}
          trigger={
            <button type="button" className="btn bare small icon-only" aria-label={`More for ${viewName(view)}`}>
              <Icon name="dots" small />
            </button>
          }
        />
      </span>
    </li>
  );
}

function refresh(): void {
  void queries.invalidateQueries({ queryKey: ["profile_list"] });
}
