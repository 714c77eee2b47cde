import { useOperation } from "../../api/hooks";
import { Copy } from "../../ui/Copy";
import { ProfileChoice, useProfile } from "./ProfileChoice";
import { Seen } from "./Seen";
import { Snippet } from "./Snippet";
import { WORDS } from "./words";

/** For a client that we do not know: the program and the address themselves. */
export function AnyClient() {
  const profile = useProfile();
  const program = useOperation("client_entry", { client: "cursor", profile, form: "program" }).data;
  const info = useOperation("host_info", {}).data;
  const path = profile ? `/mcp/${encodeURIComponent(profile)}` : "/mcp";
  const address = info?.address ? info.address + path : "";
  return (
    <>
      <div className="row hx" style={{ marginBottom: 18 }}>
        <h2 className="t18 grow">{WORDS.other}</h2>
        <ProfileChoice />
      </div>
      <ol className="steps2">
        <li>
          <span className="n">1</span>
          <div>
            <b className="bb">{WORDS.anyCommand}</b>
            <p className="q">Most clients read an entry of this form from their config file.</p>
            <Snippet text={program?.snippet ?? ""} />
          </div>
        </li>
        <li>
          <span className="n">2</span>
          <div>
            <b className="bb">{WORDS.anyAddress}</b>
            <p className="q">Streamable HTTP, for as long as Toolcrib runs.</p>
            <div className="snip">
              <pre className="code wrap">{address}</pre>
              <Copy text={address} />
            </div>
          </div>
        </li>
        <li style={{ margin: 0 }}>
          <span className="n">3</span>
          <div>
            <Seen profile={profile} />
          </div>
        </li>
      </ol>
    </>
  );
}
