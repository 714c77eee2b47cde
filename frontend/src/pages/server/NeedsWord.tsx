import { setSearch } from "../../app/router";
import { plural } from "../../ui/amounts";
import { Glyph } from "../../ui/Status";
import type { Open } from "../servers/Dialogs";
import type { Glance } from "../servers/model";

/** When it waits for a person: for what, and the button for it. */
export function NeedsWord({ server, onOpen }: { server: Glance; onOpen: (open: Open) => void }) {
  const { name } = server;
  if (server.state === "needs-trust") {
    return <Note what="It was never run." why="Read its command before it starts." does="Review…" act={() => onOpen({ what: "review", name })} />;
  }
  if (server.state === "needs-auth") {
    return <Note what="It wants a sign-in." why="Calls wait until then." does="Sign in" act={() => onOpen({ what: "sign-in", name })} />;
  }
  if (server.state === "needs-config") {
    const missing = server.missing.join(", ");
    return (
      <Note
        what={missing ? `${missing} is not set.` : "A value is missing."}
        why="It will be kept in the keyring."
        does="Set value"
        act={() => onOpen({ what: "value", name, missing: server.missing })}
      />
    );
  }
  if (server.held.length === 0) return null;
  const names = server.held.map((tool) => `“${tool}”`).join(", ");
  const others = server.tools - server.held.length;
  const rest = others > 0 ? ` The other ${others === 1 ? "tool works" : `${others} tools work`}.` : "";
  return (
    <Note
      what={`${plural(server.held.length, "tool definition")} changed.`}
      why={`${names} ${server.held.length === 1 ? "is" : "are"} held until you decide.${rest}`}
      does="See difference"
      act={() => {
        setSearch({ tab: null });
        setTimeout(() => document.getElementById("difference")?.scrollIntoView({ block: "start" }));
      }}
    />
  );
}

function Note({ what, why, does, act }: { what: string; why: string; does: string; act: () => void }) {
  return (
    <div className="note" role="status">
      <Glyph shape="need" />
      <div className="grow">
        <b className="bb">{what}</b> <span className="q">{why}</span>
      </div>
      <button type="button" className="btn sm" onClick={act}>
        {does}
      </button>
    </div>
  );
}
