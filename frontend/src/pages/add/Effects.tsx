/** What follows from a command, listed before it is allowed: folders it touches, install scripts, environment
 * variables, downloads, sandbox, warnings. The host finds them out. */

import type { ReactNode } from "react";

import { tilde } from "../../text/home";
import { plural } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { Glyph, type Shape } from "../../ui/Status";
import type { Launch } from "./types";

/** What follows from the command: what it can touch, what runs while installing, what it sees, what is fetched. */
export function Effects({ launch }: { launch: Launch }) {
  const local = launch.url === "";
  return (
    <ul className="effects">
      {launch.touches.length > 0 && (
        <Line shape="need" name="Can read and write">
          in {joined(launch.touches.map(tilde))}
        </Line>
      )}
      {local && <Scripts launch={launch} />}
      {local && <Environment launch={launch} />}
      {launch.sets.some((one) => one.outside) && (
        <Line shape="need" name="Other code can run">
          by {joined(launch.sets.filter((one) => one.outside).map((one) => one.text))}
        </Line>
      )}
      {launch.headers.length > 0 && (
        <Line shape="done" name="Sends">
          {joined(launch.headers)} with each request
        </Line>
      )}
      {(launch.fetches.length > 0 || launch.copies) && (
        <Line shape="done" name="Downloads">
          {launch.fetches.length > 0
            ? `${plural(launch.fetches.length, "package")}, integrity recorded. `
            : reveal(launch.copies)}
          {launch.fetches.length > 0 && (
            <details>
              <summary>Show list</summary>
              {joined(launch.fetches)}
            </details>
          )}
        </Line>
      )}
      {local && (
        <Line shape={launch.sandbox.length > 0 ? "done" : "off"} name="Sandbox">
          {launch.sandbox.map(reveal).join("; ") || "none"}
        </Line>
      )}
      {launch.remarks.map((remark) => (
        <Line key={remark} shape="need" name="Warning">
          {reveal(remark)}
        </Line>
      ))}
    </ul>
  );
}

function Scripts({ launch }: { launch: Launch }) {
  const { allowed, refused, built } = launch.scripts;
  if (launch.fetches.length === 0 && allowed.length + refused.length + built.length === 0) return null;
  const runs = [...allowed, ...built];
  const words = refused.length > 0 ? ` ${refused.length} ${refused.length === 1 ? "was" : "were"} refused: ` : "";
  return (
    <Line shape={runs.length > 0 ? "need" : "done"} name="Install scripts">
      {runs.length > 0 ? <>{joined(runs)} run now, as you.</> : "none."}
      {words}
      {refused.length > 0 && joined(refused)}
    </Line>
  );
}

function Environment({ launch }: { launch: Launch }) {
  const own = launch.sets.map((one) => one.text);
  if (!launch.program)
    return (
      <Line shape="need" name="Runs inside Toolcrib">
        with everything that Toolcrib can use: files, network and environment variables
      </Line>
    );
  return (
    <Line shape="done" name="Gets from your environment">
      {launch.inherits.length > 0 ? <>{joined(launch.inherits, ", ")}, and nothing else</> : "nothing"}
      {own.length > 0 && (
        <>
          . <b>Also receives</b> {joined(own)}
        </>
      )}
    </Line>
  );
}

function Line({ shape, name, children }: { shape: Shape; name: string; children: ReactNode }) {
  return (
    <li className="effect">
      <Glyph shape={shape} />
      <span>
        <b>{name}</b> {children}
      </span>
    </li>
  );
}

function joined(words: readonly string[], last = " and "): ReactNode {
  return words.map((word, index) => (
    <span key={index}>
      {index > 0 && (index === words.length - 1 ? last : ", ")}
      <code>{reveal(word)}</code>
    </span>
  ));
}
