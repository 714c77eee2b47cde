/** The table of a server's tools: what each declares itself as (read-only, destructive), tokens, switches "Always on"
 * and "Offered". */

import { useMemo, useRef } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, usePages } from "../../api/hooks";
import type { ShelfTool, ToolInfo } from "../../api/types";
import { notify } from "../../app/notices";
import { Link } from "../../app/router";
import { reveal } from "../../ui/hidden";
import { Loading } from "../../ui/Loading";
import { Glyph } from "../../ui/Status";
import { Switch } from "../../ui/Switch";
import { useWindow } from "../../ui/window";
import { saysIt, TEXT } from "./text";

/** Its tools: what each says of itself, what it costs, and whether a model may have it. */
export function ToolsTable({ server }: { server: string }) {
  const found = usePages("find_tools", { server });
  const hints = usePages("tools", { server, disabled: true }).data;
  return (
    <section aria-label={TEXT.tools}>
      <div className="section-head">
        <h2>{TEXT.tools}</h2>
        <span className="muted text-small grow">{TEXT.offered}</span>
      </div>
      {found.isPending && <Loading rows={3} height={48} />}
      {found.data?.tools.length === 0 && <p className="empty">{TEXT.noTools}</p>}
      {found.data && found.data.tools.length > 0 && (
        <table className="tools-table" aria-rowcount={found.data.tools.length + 1}>
          <thead>
            <tr>
              <th>Tool</th>
              <th className="hide-narrow col-declared">Declared as</th>
              <th className="align-right col-tokens-used number-column">Tokens</th>
              <th className="align-center hide-narrow nowrap col-always-on">Always on</th>
              <th className="align-right col-offered">Offered</th>
            </tr>
          </thead>
          <ToolRows tools={found.data.tools} hints={hints ?? []} />
        </table>
      )}
    </section>
  );
}

const COLUMNS = 5;

/** Of many tools, only the rows in view. */
function ToolRows({ tools, hints }: { tools: readonly ShelfTool[]; hints: readonly ToolInfo[] }) {
  const body = useRef<HTMLTableSectionElement>(null);
  const said = useMemo(() => new Map(hints.map((one) => [one.name, saysIt(one.annotations)])), [hints]);
  const view = useWindow({
    count: tools.length,
    height: 48,
    keyOf: (index) => tools[index]?.name ?? index,
    anchor: body,
  });
  return (
    <tbody ref={body}>
      {view.before > 0 && <Gap height={view.before} />}
      {view.rows.map(({ index, key }) => {
        const tool = tools[index];
        return tool && <ToolRow key={key} tool={tool} says={said.get(tool.name) ?? ""} />;
      })}
      {view.after > 0 && <Gap height={view.after} />}
    </tbody>
  );
}

function Gap({ height }: { height: number }) {
  return (
    <tr aria-hidden="true">
      <td className="gap-cell" colSpan={COLUMNS} style={{ height }} />
    </tr>
  );
}

function ToolRow({ tool, says }: { tool: ShelfTool; says: string }) {
  const held = tool.standing === "held";
  return (
    <tr>
      <td>
        <div className="row tool-line">
          <Link className="inherit-color" href={`/tools?tool=${encodeURIComponent(tool.name)}`}>
            <code className="bold">{reveal(tool.tool)}</code>
          </Link>
          {held && <Glyph shape="need" />}
        </div>
        <div className="muted text-small ellipsis tool-about" title={reveal(tool.description)}>
          {reveal(tool.description.trim().split("\n")[0] ?? "") || TEXT.noDescription}
        </div>
      </td>
      <td className="hide-narrow">{says ? <span className="tag">{says}</span> : <span className="muted">–</span>}</td>
      <td className="align-right num secondary text-small number-column">{tool.tokens}</td>
      <td className="align-center hide-narrow">
        <Switch
          label={`Always on: ${tool.tool}`}
          on={tool.always_on}
          onChange={(on) => void set(tool, { always_on: on })}
        />
      </td>
      <td className="align-right">
        {held ? (
          <span className="secondary">{TEXT.held}</span>
        ) : (
          <Switch
            label={`Offered: ${tool.tool}`}
            on={tool.standing !== "off"}
            onChange={(on) => void set(tool, { enabled: on })}
          />
        )}
      </td>
    </tr>
  );
}

async function set(tool: ShelfTool, change: { enabled?: boolean; always_on?: boolean }): Promise<void> {
  try {
    await run("tool_set", { name: tool.name, ...change });
  } catch (error) {
    notify(sentence(error));
  }
  void queries.invalidateQueries({ queryKey: ["find_tools"] });
}
