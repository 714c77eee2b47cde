/** The notice on a server's page about what it needs (trust, sign-in, a value, an account, review of changed tools),
 * with its button. */

import { useOperation } from "../../api/hooks";
import { setSearch } from "../../app/router";
import { pageHint } from "../../text/hints";
import { reveal } from "../../ui/hidden";
import { Glyph } from "../../ui/Status";
import type { Open } from "../servers/Dialogs";
import type { Glance } from "../servers/model";
import { reasonOf, shortSecret } from "../servers/text";
import { earlierOf, rollBack } from "./RollBack";
import { changedWords, heldText, NEEDS, TEXT } from "./text";

/** What the server needs from the user, and the button for it. */
export function NeedsAction({ server, onOpen }: { server: Glance; onOpen: (open: Open) => void }) {
  const { name } = server;
  if (server.state === "needs-trust") {
    const [what = "", ...why] = reasonOf(server, Date.now()).split(/(?<=\.) /);
    return (
      <Note
        what={what}
        why={why.join(" ")}
        ways={[{ does: NEEDS.review, act: () => onOpen({ what: "review", name }) }]}
      />
    );
  }
  if (server.state === "needs-auth") {
    return (
      <Note
        what={NEEDS.signIn}
        why={NEEDS.callsWait}
        ways={[{ does: NEEDS.signInDo, act: () => onOpen({ what: "sign-in", name }) }]}
      />
    );
  }
  if (server.state === "needs-config") return <NeedsValue server={server} onOpen={onOpen} />;
  return server.held.length > 0 ? <Changed server={server} /> : null;
}

const WAYS: Record<string, { does: string; what: "account" | "choice" }> = {
  account: { does: NEEDS.addAccount, what: "account" },
  display: { does: NEEDS.chooseDisplay, what: "choice" },
};

/** A value, or what else its entry lacks. */
function NeedsValue({ server, onOpen }: { server: Glance; onOpen: (open: Open) => void }) {
  const { name, missing } = server;
  const way = WAYS[server.needs];
  if (way) {
    const act = () => onOpen({ what: way.what, name });
    return <Note what={reasonOf(server, Date.now())} why={NEEDS.notOffered} ways={[{ does: way.does, act }]} />;
  }
  if (missing.length > 0) {
    const names = missing.map((secret) => shortSecret(name, secret)).join(", ");
    const act = () => onOpen({ what: "value", name, missing });
    return (
      <Note what={NEEDS.notSet(names, missing.length)} why={NEEDS.keyring} ways={[{ does: NEEDS.setValue, act }]} />
    );
  }
  const install = /not installed/.test(server.reason);
  const act = () => onOpen({ what: install ? "review" : "edit", name });
  return (
    <Note
      what={reasonOf(server, Date.now())}
      why={reveal(pageHint(server.hint))}
      ways={[{ does: install ? NEEDS.install : NEEDS.fix, act }]}
    />
  );
}

/** A definition that changed; where the version before lies here, one can go back to it. */
function Changed({ server }: { server: Glance }) {
  const earlier = earlierOf(useOperation("versions", { name: server.name }).data ?? []);
  const see = () => {
    setSearch({ tab: null });
    setTimeout(() => document.getElementById("difference")?.scrollIntoView({ block: "start" }));
  };
  return (
    <Note
      what={changedWords(server.held.length, earlier ? server.source.version : null)}
      why={heldText(server.held, server.tools - server.held.length)}
      ways={[
        ...(earlier ? [{ does: TEXT.keepOld, act: () => void rollBack(server.name, earlier.version) }] : []),
        { does: TEXT.seeDifference, act: see },
      ]}
    />
  );
}

interface NoteProps {
  what: string;
  why: string;
  ways: readonly { does: string; act: () => void }[];
}

function Note({ what, why, ways }: NoteProps) {
  return (
    <div className="needs-note" role="status">
      <Glyph shape="need" />
      <div className="grow">
        <b className="bold">{what}</b> <span className="secondary">{why}</span>
      </div>
      {ways.map(({ does, act }) => (
        <button key={does} type="button" className="btn small" onClick={act}>
          {does}
        </button>
      ))}
    </div>
  );
}
