/** What changed in tool definitions that are held for review: differences, findings, Approve (asked twice if there are
 * findings), roll back. The host decides what is held. */

import { useState, type ReactNode } from "react";

import { run } from "../../api/client";
import { queries, useOperation } from "../../api/hooks";
import type { HeldTool } from "../../api/types";
import { notify } from "../../app/notices";
import { Dialog } from "../../ui/Dialog";
import { Difference } from "../../ui/Difference";
import { reveal } from "../../ui/hidden";
import { Segments } from "../../ui/Segments";
import { Glyph } from "../../ui/Status";
import { ErrorBox } from "../../ui/ErrorBox";
import { asJson, asText } from "./definition";
import { RollBack } from "./RollBack";
import { hashText, TEXT } from "./text";

/** What changed in the definitions that are held, with what looks wrong in them, and the ways out. */
export function Differences({ name }: { name: string }) {
  const shown = useOperation("trust", { names: [name] }).data?.servers[0];
  if (!shown || shown.tools.length === 0) return null;
  const [only] = shown.tools;
  return (
    <section id="difference" aria-label={TEXT.difference}>
      <div className="section-head">
        <h2>{TEXT.difference}</h2>
        {only && shown.tools.length === 1 && <span className="muted text-small grow">{hashText(only)}</span>}
      </div>
      {shown.tools.map((tool, index) => (
        <OneTool key={tool.tool} tool={tool} server={name} dated={shown.tools.length > 1}>
          {index === shown.tools.length - 1 && (
            <Decide name={name} mark={shown.mark} findings={shown.tools.flatMap((one) => one.findings)} />
          )}
        </OneTool>
      ))}
    </section>
  );
}

interface ToolProps {
  tool: HeldTool;
  server: string;
  /** Its own hashes and day are said here. */
  dated: boolean;
  children: ReactNode;
}

function OneTool({ tool, server, dated, children }: ToolProps) {
  const [form, setForm] = useState<"words" | "json">("words");
  const show = form === "words" ? asText : asJson;
  return (
    <div className="tool-diff">
      <div className="panel-head">
        <code className="bold">{reveal(tool.tool.replace(`${server}__`, ""))}</code>
        <span className="muted text-small">
          {Object.keys(tool.changed).map(partName).join(" and ")}
          {dated && `, ${hashText(tool)}`}
        </span>
        <span className="push-end">
          <Segments
            label="View as"
            value={form}
            options={[
              { value: "words", name: "Text" },
              { value: "json", name: "JSON" },
            ]}
            onChange={setForm}
          />
        </span>
      </div>
      {Object.entries(tool.changed).map(([part, change]) => (
        <Difference
          key={part}
          marked
          before={reveal(show(part, change.before))}
          after={reveal(show(part, change.now))}
        />
      ))}
      {tool.findings.map((finding) => (
        <div key={finding} className="finding">
          <Glyph shape="need" />
          <span>
            <b className="medium emphasis">Finding:</b> {reveal(finding)}
          </span>
        </div>
      ))}
      {children}
    </div>
  );
}

function partName(part: string): string {
  return part === "inputSchema" ? "input schema" : part;
}

function Decide({ name, mark, findings }: { name: string; mark: string; findings: readonly string[] }) {
  const [sure, setSure] = useState(false);
  const [trouble, setTrouble] = useState<unknown>(null);
  async function approve() {
    setSure(false);
    try {
      await run("trust", { names: [name], agree: { [name]: mark } });
      notify(TEXT.approved(name));
    } catch (error) {
      setTrouble(error);
    }
    void queries.invalidateQueries();
  }
  return (
    <>
      {trouble !== null && <ErrorBox error={trouble} />}
      <div className="diff-actions">
        <RollBack name={name} />
        <button type="button" className="btn" onClick={() => notify(TEXT.staysHeld)}>
          {TEXT.keepHeld}
        </button>
        <span className="muted text-small grow text-end">{TEXT.ifKnown}</span>
        <button type="button" className="btn bare" onClick={() => (findings.length ? setSure(true) : void approve())}>
          {TEXT.approve}
        </button>
      </div>
      {sure && (
        <Dialog title="Approve despite the finding?" onClose={() => setSure(false)}>
          <div className="dialog-body">
            <ul className="secondary">
              {findings.map((finding) => (
                <li key={finding}>{reveal(finding)}</li>
              ))}
            </ul>
            <div className="row align-end space-above-16">
              <button type="button" className="btn primary" onClick={() => setSure(false)}>
                {TEXT.keepHeld}
              </button>
              <button type="button" className="btn" onClick={() => void approve()}>
                Approve
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}
