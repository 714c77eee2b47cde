/** Connecting a program that is not in the list: an entry for its config file, and the HTTP address of the gateway. */

import { useOperation } from "../../api/hooks";
import { Copy } from "../../ui/Copy";
import { ProfileChoice, useProfile } from "./ProfileChoice";
import { ConnectionStatus } from "./ConnectionStatus";
import { Snippet } from "./Snippet";
import { TEXT } from "./text";

/** For a client that we do not know: the program and the address themselves. */
export function AnyClient() {
  const profile = useProfile();
  const program = useOperation("client_entry", { client: "cursor", profile, form: "program" }).data;
  const info = useOperation("host_info", {}).data;
  const path = profile ? `/mcp/${encodeURIComponent(profile)}` : "/mcp";
  const address = info?.address ? info.address + path : "";
  return (
    <>
      <div className="row client-head space-below-18">
        <h2 className="text-title grow">{TEXT.other}</h2>
        <ProfileChoice />
      </div>
      <ol className="connect-steps">
        <li>
          <span className="step-number">1</span>
          <div>
            <b className="bold">{TEXT.anyCommand}</b>
            <p className="secondary">Most clients read an entry like this from their config file.</p>
            <Snippet text={program?.snippet ?? ""} />
          </div>
        </li>
        <li>
          <span className="step-number">2</span>
          <div>
            <b className="bold">{TEXT.anyAddress}</b>
            <p className="secondary">Streamable HTTP, available while Toolcrib is running.</p>
            <div className="snippet">
              <pre className="code wrap">{address}</pre>
              <Copy text={address} />
            </div>
          </div>
        </li>
        <li className="last-step">
          <span className="step-number">3</span>
          <div>
            <ConnectionStatus profile={profile} />
          </div>
        </li>
      </ol>
    </>
  );
}
