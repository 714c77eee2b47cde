import { Fragment } from "react";

import { tilde } from "../../text/home";
import { Difference } from "../../ui/Difference";
import type { Launch } from "./data";
import { CONFIRM } from "./words";

/** What would run, whole: the program, then every argument on its own numbered line. */
export function Command({ launch }: { launch: Launch }) {
  return (
    <div className="cmd" tabIndex={0} role="group" aria-label={CONFIRM.exact}>
      <div className="a0"><Breakable text={launch.url || tilde(launch.program) || "–"} /></div>
      {launch.arguments.map((argument, index) => (
        <div key={index}>
          <s>{index + 1}</s>
          {argument.outside ? (
            <u><Breakable text={tilde(argument.text)} /><span className="sr"> reaches outside its folder</span></u>
          ) : (
            <span><Breakable text={tilde(argument.text)} /></span>
          )}
        </div>
      ))}
      {launch.folder && <div className="a0 m">in <Breakable text={tilde(launch.folder)} /></div>}
    </div>
  );
}

/** Long paths break after a slash. */
function Breakable({ text }: { text: string }) {
  if (text === "") return <span className="m">(empty)</span>;
  return (
    <>
      {text.split(/(?<=\/)/).map((part, index) => (
        <Fragment key={index}>{part}<wbr /></Fragment>
      ))}
    </>
  );
}

const PARTS: Record<string, string> = {
  command: "Program", args: "Arguments", env: "Variables", cwd: "Folder", url: "Address", package: "Package",
  version: "Version", headers: "Headers", type: "Type", envAllow: "Variables of yours", watch: "Watched files",
};

/** The old and the new command, part by part. */
export function Changed({ launch }: { launch: Launch }) {
  return (
    <>
      {launch.changed.map((change) => (
        <div key={change.part} style={{ marginTop: 8 }}>
          <p className="m t12">{PARTS[change.part] ?? change.part}</p>
          <Difference before={change.before ?? ""} after={change.now ?? ""} />
        </div>
      ))}
    </>
  );
}
