import { useState } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, useOperation } from "../../api/hooks";
import type { ProfileShown } from "../../api/types";
import { notify } from "../../app/notices";
import { day } from "../../ui/amounts";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { ProfileForm } from "./ProfileForm";
import { TokenShown } from "./TokenShown";
import { newToken } from "./tokens";
import { about, mayUse, viewName } from "./views";
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
        {views.map((view) => (
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

  async function makeToken() {
    const made = await newToken();
    await attempt(() => run("profile_token", { name: view.name, token_hash: made.hash }));
    onToken({ view: viewName(view), token: made.token });
  }

  const entries = [
    { name: view.token ? "New token" : "Make a token", onSelect: () => void makeToken() },
    ...(view.token
      ? [{ name: "Revoke the token", danger: true, onSelect: () => void attempt(() => run("profile_token", { name: view.name, token_hash: "" }), "Revoked. Whoever came with it is cut off.") }]
      : []),
    ...(view.name ? [{ name: "Delete", danger: true, apart: true, onSelect: () => void remove(view) }] : []),
  ];
  return (
    <li className="pf">
      <span>
        <b className="bb">{viewName(view)}</b>
        <br />
        <span className="m t12">{about(view, tools)}</span>
      </span>
      <span className="q t12">{mayUse(view, tools)}</span>
      <code className="x m">{view.token ? "needed" : "none"}</code>
      <span className="x num q t12">{use?.last_call ? day(use.last_call) : "never"}</span>
      <span className="row" style={{ gap: 2, justifyContent: "flex-end" }}>
        {view.name && (
          <button type="button" className="btn bare sm" onClick={onEdit}>
            Edit
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

async function remove(view: ProfileShown): Promise<void> {
  await attempt(() => run("profile_remove", { name: view.name }));
  const { name, servers, tools, read_only, search, plain_names, k, always_on } = view;
  notify(`Removed “${name}”.`, () =>
    void attempt(() => run("profile_add", { name, servers, tools, read_only, search, plain_names, k, always_on, replace: false })),
  );
}

async function attempt(act: () => Promise<unknown>, done?: string): Promise<void> {
  try {
    await act();
    if (done) notify(done);
  } catch (error) {
    notify(sentence(error));
  }
  void queries.invalidateQueries({ queryKey: ["profile_list"] });
}
