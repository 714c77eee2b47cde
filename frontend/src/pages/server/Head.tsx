/** The head of a server's page: name, state, "Test connection", Restart, on and off, and the menu with edit, sign in,
 * remove. */

import { navigate } from "../../app/router";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";
import { serverState } from "../../ui/states";
import { Status } from "../../ui/Status";
import { remove, restart, signOut, start, turn } from "../servers/actions";
import type { Open } from "../servers/Dialogs";
import type { Glance } from "../servers/model";
import { useSeconds } from "./seconds";
import { TEXT } from "./text";

/** Its name, its state, and what can be done with it. */
export function Head({ server, onOpen }: { server: Glance; onOpen: (open: Open) => void }) {
  const { name } = server;
  const left = useSeconds(server.retry_at);
  const state = serverState(server.state, 0, left, server.needs); // Changed tools are in the notice below.
  const off = server.state === "disabled";
  const remote = server.type === "http" || server.type === "sse";
  return (
    <div className="server-head">
      <h1>{name}</h1>
      <Status shape={state.shape} word={state.word} />
      <span className="grow" />
      <button type="button" className="btn" onClick={() => onOpen({ what: "test", name })}>
        {TEXT.test}
      </button>
      {!off && (
        <button
          type="button"
          className="btn"
          onClick={() => void (server.state === "backoff" ? start(name) : restart(name))}
        >
          <Icon name="again" small />
          {TEXT.restart}
        </button>
      )}
      <button type="button" className="btn" onClick={() => void turn(name, off)}>
        {off ? TEXT.on : TEXT.off}
      </button>
      <Menu
        trigger={
          <button type="button" className="btn icon-only" aria-label={`More for ${name}`}>
            <Icon name="dots" small />
          </button>
        }
        entries={[
          { name: "Edit entry", onSelect: () => onOpen({ what: "edit", name }) },
          ...(remote
            ? [
                { name: "Sign in", onSelect: () => onOpen({ what: "sign-in", name }) },
                { name: "Sign out", onSelect: () => void signOut(name) },
              ]
            : []),
          {
            name: "Remove",
            danger: true,
            apart: true,
            onSelect: () => {
              void remove(name);
              navigate("/servers");
            },
          },
        ]}
      />
    </div>
  );
}
