import { useOperation } from "../../api/hooks";
import { Link, navigate } from "../../app/router";
import { duration, plural } from "../../ui/amounts";
import { foundServers } from "./found";
import { useSample } from "./sample";
import { Step } from "./Step";
import { WORDS } from "./words";

/** The demo server, and how quickly it answered. */
export function DemoStep() {
  const demo = useOperation("servers", {}).data?.find((server) => server.name === "demo");
  const sample = useSample();
  if (!demo || demo.state === "starting") {
    return <Step number={1} shape="work" title={WORDS.demoWaits}><p>…</p></Step>;
  }
  if (demo.state !== "ready" || sample.error) {
    return (
      <Step number={1} shape="fail" title={WORDS.demoFailed} action={<Link href="/settings#doctor">{WORDS.doctor}</Link>}>
        <p>{demo.reason || sample.error?.message}</p>
      </Step>
    );
  }
  const took = sample.data ? duration(sample.data.ms) : "…";
  return (
    <Step number={1} shape="done" title={WORDS.demoRuns} action={<Link href="/servers/demo">{WORDS.see}</Link>}>
      <p>{WORDS.demoAbout(demo.tools, took)}</p>
    </Step>
  );
}

/** Servers that stand in the files of other hosts. */
export function ServersStep() {
  const { data } = useOperation("import_found", { folder: "" });
  const found = foundServers(data ?? []);
  if (data && found.total === 0) {
    return <Step number={3} shape="off" title={WORDS.servers}><p>{WORDS.noServers}</p></Step>;
  }
  const preview = (
    <button type="button" className="btn" disabled={!data} onClick={() => navigate("/servers?import=1")}>
      {WORDS.preview}
    </button>
  );
  return (
    <Step number={3} shape="off" title={WORDS.servers} action={preview}>
      <p>
        {data && (
          <>
            Found <b className="bb" style={{ color: "var(--ink)" }}>{plural(found.total, "server")}</b>
            {found.rest} {WORDS.startsNothing}
          </>
        )}
      </p>
    </Step>
  );
}
