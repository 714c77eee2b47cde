/** The panel of one tool: description, tags (read-only, needs approval), menu with turn off and copy name, tabs, and
 * its definition with what changed. */

import { useOperation } from "../../api/hooks";
import type { ToolDetails } from "../../api/types";
import { Link, navigate, setSearch, useSearch } from "../../app/router";
import { day, plural } from "../../ui/amounts";
import { Difference } from "../../ui/Difference";
import { reveal } from "../../ui/hidden";
import { Icon } from "../../ui/Icon";
import { Loading } from "../../ui/Loading";
import { Menu } from "../../ui/Menu";
import { TabBar } from "../../ui/TabBar";
import { ErrorBox } from "../../ui/ErrorBox";
import { ban, pin } from "./actions";
import { ToolCalls } from "./ToolCalls";
import { TryForm } from "./TryForm";
import { TEXT } from "./text";

/** All about one tool: what it does, what it takes, a try, its calls. */
export function ToolPanel({ name }: { name: string }) {
  const { data, error, refetch } = useOperation("tool_show", { name });
  const tab = useSearch().get("view") ?? "try";
  if (error)
    return (
      <div className="tool-panel">
        <ErrorBox error={error} again={() => void refetch()} />
      </div>
    );
  if (!data)
    return (
      <div className="tool-panel">
        <Loading rows={4} height={44} />
      </div>
    );
  return (
    <div className="tool-panel" data-shown={data.name}>
      <Head tool={data} />
      <div className="space-above-16">
        <TabBar
          label={data.tool}
          value={tab}
          onChange={(view) => setSearch({ view: view === "try" ? null : view })}
          tabs={[
            { value: "try", name: TEXT.tryIt, content: <TryForm key={data.name} tool={data} /> },
            { value: "schema", name: TEXT.schema, content: <Definition tool={data} /> },
            {
              value: "calls",
              name: (
                <>
                  {TEXT.calls} <span className="count">{data.calls}</span>
                </>
              ),
              content: <ToolCalls name={data.name} />,
            },
          ]}
        />
      </div>
    </div>
  );
}

function Head({ tool }: { tool: ToolDetails }) {
  const server = tool.server;
  return (
    <>
      <div className="row">
        <h2 className="mono grow tool-title">{reveal(tool.tool)}</h2>
        <button
          type="button"
          className="btn bare small icon-only"
          aria-label={tool.always_on ? TEXT.unpin : TEXT.pin}
          aria-pressed={tool.always_on}
          onClick={() => void pin(tool)}
        >
          <Icon name="pin" small />
        </button>
        <Menu
          trigger={
            <button type="button" className="btn bare small icon-only" aria-label={TEXT.more} data-actions>
              <Icon name="dots" small />
            </button>
          }
          entries={[
            {
              name: tool.standing === "off" ? TEXT.turnOn : TEXT.turnOff,
              onSelect: () => void ban(tool),
              disabled: !tool.can_switch || tool.standing === "held",
            },
            { name: TEXT.copyName, onSelect: () => void navigator.clipboard.writeText(tool.name) },
            {
              name: TEXT.seeCalls,
              onSelect: () => navigate(`/activity?words=${encodeURIComponent(`tool:${tool.name}`)}`),
            },
            ...(server
              ? [
                  {
                    name: TEXT.openServer(server),
                    onSelect: () => navigate(`/servers/${encodeURIComponent(server)}`),
                    apart: true,
                  },
                ]
              : []),
          ]}
        />
      </div>
      <p className="secondary tool-description">
        {reveal(tool.description.trim())}{" "}
        {server && (
          <>
            From <Link href={`/servers/${encodeURIComponent(server)}`}>{reveal(server)}</Link>,{" "}
          </>
        )}
        {plural(tool.tokens, "token")}.
      </p>
      <div className="row wrap tool-tags">
        {tags(tool).map((word) => (
          <span key={word} className="tag">
            {word}
          </span>
        ))}
      </div>
      {tool.standing !== "ready" && (
        <p className="secondary text-small space-above-10">{TEXT.notReady(tool.why_not)}</p>
      )}
    </>
  );
}

const GATE = { allow: "runs without approval", ask: "needs approval", deny: "denied" };

/** What the server says of it, which is never trusted, and what the gate says. */
function tags(tool: ToolDetails): string[] {
  const hints = tool.annotations;
  return [
    hints["readOnlyHint"] === true ? "read-only" : hints["destructiveHint"] === true ? "destructive" : "writes",
    ...(hints["idempotentHint"] === true || tool.reads ? ["safe to repeat"] : []),
    ...(hints["openWorldHint"] === true ? ["external access"] : []),
    ...(tool.always_on ? ["always on"] : []),
    GATE[tool.gate],
    `definition ${tool.hash.slice(0, 7)}`,
  ];
}

function Definition({ tool }: { tool: ToolDetails }) {
  return (
    <div className="definition">
      {tool.differences.map((one) => (
        <section key={one.part}>
          <h3>{one.part}</h3>
          <Difference before={one.before} after={one.after} />
        </section>
      ))}
      {tool.first_seen && (
        <p className="muted text-small">
          {TEXT.firstSeen(day(tool.first_seen))}{" "}
          {tool.changes.length > 0 && tool.last_changed ? TEXT.changed(day(tool.last_changed), tool.changes) : ""}
        </p>
      )}
      <h3>{TEXT.takes}</h3>
      <pre className="code wrap">{reveal(JSON.stringify(tool.inputSchema, null, 2))}</pre>
      {tool.outputSchema && (
        <>
          <h3>{TEXT.gives}</h3>
          <pre className="code wrap">{reveal(JSON.stringify(tool.outputSchema, null, 2))}</pre>
        </>
      )}
      <h3>{TEXT.whole}</h3>
      <pre className="code wrap">{reveal(tool.definition)}</pre>
    </div>
  );
}
