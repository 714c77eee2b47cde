/** The exact command before it first runs: every argument on its own line, arguments that reach outside the folder;
 * and what changed since it was trusted. */

import { Fragment } from "react";

import { tilde } from "../../text/home";
import { Difference } from "../../ui/Difference";
import type { Launch } from "./types";
import { CONFIRM } from "./text";

/** What would run, whole: the program, then every argument on its own numbered line. */
export function Command({ launch }: { launch: Launch }) {
  return (
    <div className="command-box" tabIndex={0} role="group" aria-label={CONFIRM.exact}>
      <div className="command-line">
        <Breakable text={launch.url || tilde(launch.program) || "–"} />
      </div>
      {launch.arguments.map((argument, index) => (
        <div key={index}>
          <s>{index + 1}</s>
          {argument.outside ? (
            <u>
              <Breakable text={tilde(argument.text)} />
              <span className="visually-hidden"> reaches outside its folder</span>
            </u>
          ) : (
            <span>
              <Breakable text={tilde(argument.text)} />
            </span>
          )}
        </div>
      ))}
      {launch.folder && (
        <div className="command-line muted">
          in <Breakable text={tilde(launch.folder)} />
        </div>
      )}
    </div>
  );
}

/** Long paths break after a slash. */
function Breakable({ text }: { text: string }) {
  if (text === "") return <span className="muted">(empty)</span>;
  return (
    <>
      {text.split(/(?<=\/)/).map((part, index) => (
        <Fragment key={index}>
          {part}
          <wbr />
        </Fragment>
      ))}
    </>
  );
}

const PARTS: Record<string, string> = {
  command: "Program",
  args: "Arguments",
  env: "Variables",
  cwd: "Folder",
  url: "Address",
  package: "Package",
  version: "Version",
  headers: "Headers",
  type: "Type",
  envAllow: "Your variables",
  watch: "Watched files",
};

/** The old and the new command, part by part. */
export function Changed({ launch }: { launch: Launch }) {
  return (
    <>
      {launch.changed.map((change) => (
        <div className="space-above-8" key={change.part}>
          <p className="muted text-small">{PARTS[change.part] ?? change.part}</p>
          <Difference before={change.before ?? ""} after={change.now ?? ""} />
        </div>
      ))}
    </>
  );
}
