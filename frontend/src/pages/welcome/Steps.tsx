/** Steps 1 and 3 of Welcome: the demo server and how quickly it answered; servers found in the config files of other
 * programs. */

import { useOperation } from "../../api/hooks";
import { Link, navigate } from "../../app/router";
import { duration, plural } from "../../ui/amounts";
import { foundServers } from "./found";
import { useSample } from "./sample";
import { Step } from "./Step";
import { TEXT } from "./text";

/** The demo server, and how quickly it answered. */
export function DemoStep() {
  const demo = useOperation("servers", {}).data?.find((server) => server.name === "demo");
  const sample = useSample();
  if (!demo || demo.state === "starting") {
    return (
      <Step number={1} shape="work" title={TEXT.demoWaits}>
        <p>…</p>
      </Step>
    );
  }
  if (demo.state !== "ready" || sample.error) {
    return (
      <Step number={1} shape="fail" title={TEXT.demoFailed} action={<Link href="/settings#doctor">{TEXT.doctor}</Link>}>
        <p>{demo.reason || sample.error?.message}</p>
      </Step>
    );
  }
  const took = sample.data ? duration(sample.data.ms) : "…";
  return (
    <Step number={1} shape="done" title={TEXT.demoRuns} action={<Link href="/servers/demo">{TEXT.see}</Link>}>
      <p>{TEXT.demoAbout(demo.tools, took)}</p>
    </Step>
  );
}

/** Servers found in the config files of other clients. */
export function ServersStep() {
  const { data } = useOperation("import_found", { folder: "" });
  const found = foundServers(data ?? []);
  if (data && found.total === 0) {
    return (
      <Step number={3} shape="off" title={TEXT.servers}>
        <p>{TEXT.noServers}</p>
      </Step>
    );
  }
  const preview = (
    <button type="button" className="btn" disabled={!data} onClick={() => navigate("/servers?import=1")}>
      {TEXT.preview}
    </button>
  );
  return (
    <Step number={3} shape="off" title={TEXT.servers} action={preview}>
      <p>
        {data && (
          <>
            Found <b className="bold emphasis">{plural(found.total, "server")}</b>
            {found.rest} {TEXT.startsNothing}
          </>
        )}
      </p>
    </Step>
  );
}
