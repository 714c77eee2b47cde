import { useState } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, useOperation } from "../../api/hooks";
import type { ProfileShown } from "../../api/types";
import { notify } from "../../app/notices";
import { Ago } from "../../ui/Ago";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { namedFirst } from "./order";
import { ProfileForm } from "./ProfileForm";
import { TokenShown } from "./TokenShown";
import { newToken } from "./tokens";
import { about, mayUse, tokenWords, viewName } from "./views";
import { WORDS } from "./words";

/** The views that clients can have, and who needs a token for them. */
export function Profiles() {
  const views = useOperation("profile_list", {}).data ?? [];
  const [edited, setEdited] = useState<ProfileShown | "new" | null>(null);
  const [token, setToken] = useState<{ view: string; token: string } | null>(null);
  return (
    <section aria-label={WORDS.profiles}>
      <h2 style={{ margin: "30px 0 6px" }}>{WORDS.profiles}</h2>
      <ul>
        <li className="pf h" aria-hidden="true">
          <span>Name</span>
          <span>May use</span>
          <span>Token</span>
          <span>Used</span>
          <span />
        </li>
        {namedFirst(views).map((view) => (
          <ProfileRow key={view.name} view={view} onEdit={() => setEdited(view)} onToken={setToken} />
        ))}
      </ul>
      <button type="button" className="btn bare sm" style={{ marginTop: 8 }} onClick={() => setEdited("new")}>
        <Icon name="plus" small />
        {WORDS.add}
      </button>
      {edited !== null && <ProfileForm view={edited === "new" ? null : edited} onClose={() => setEdited(null)} />}
      {token && <TokenShown view={token.view} token={token.token} onClose={() => setToken(null)} />}
    </section>
  );
}

interface RowProps {
  view: ProfileShown;
  onEdit: () => void;
  onToken: (made: { view: string; token: string }) => void;
}

function ProfileRow({ view, onEdit, onToken }: RowProps) {
  const tools = useOperation("tools", {}).data ?? [];
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

  /** A token that nobody has: whoever came with the old one is out, and nobody gets in until there is a new one. */
  async function revoke() {
    const { hash } = await newToken();
    if (await attempt(() => run("profile_token", { name: view.name, token_hash: hash }))) notify(WORDS.revoked);
  }

  async function open() {
    const opened = await attempt(() => run("profile_token", { name: view.name, token_hash: "" }));
    if (opened) notify(WORDS.opened(viewName(view)));
  }

  async function remove() {
    const { name, servers, tools: patterns, read_only, search, plain_names, k, always_on } = view;
    const back = { name, servers, tools: patterns, read_only, search, plain_names, k, always_on, replace: false };
    const removed = await attempt(() => run("profile_remove", { name }));
    if (removed) notify(WORDS.removed(name), () => void run("profile_add", back).then(refresh, (error: unknown) => notify(sentence(error))));
  }

  const entries = [
    { name: view.token ? WORDS.newToken : WORDS.makeToken, onSelect: () => void makeToken() },
    ...(view.token
      ? [
          { name: WORDS.revoke, danger: true, onSelect: () => void revoke() },
          { name: WORDS.open, apart: true, onSelect: () => void open() },
        ]
      : []),
    ...(view.name ? [{ name: WORDS.deleteView, danger: true, apart: true, onSelect: () => void remove() }] : []),
  ];
  return (
    <li className="pf">
      <span>
        <b className="bb">{viewName(view)}</b>
        <br />
        <span className="m t12">{about(view, tools)}</span>
        {wrong && <span className="t12 wrong" role="alert" style={{ display: "block" }}>{wrong}</span>}
      </span>
      <span className="q t12">{mayUse(view, tools)}</span>
      <code className="x m">{tokenWords(view)}</code>
      <span className="x num q t12">{use?.last_call ? <Ago when={use.last_call} /> : WORDS.never}</span>
      <span className="row" style={{ gap: 2, justifyContent: "flex-end" }}>
        {view.name && (
          <button type="button" className="btn bare sm" onClick={onEdit}>
            {WORDS.edit}
          </button>
        )}
        <Menu
          entries={entries}
          trigger={
            <button type="button" className="btn bare sm ic" aria-label={`More for ${viewName(view)}`}>
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
