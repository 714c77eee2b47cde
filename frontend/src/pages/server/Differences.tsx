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
import { Trouble } from "../../ui/Trouble";
import { asJson, asWords } from "./definition";
import { RollBack } from "./RollBack";
import { hashWords, WORDS } from "./words";

/** What changed in the definitions that are held, with what looks wrong in them, and the ways out. */
export function Differences({ name }: { name: string }) {
  const shown = useOperation("trust", { names: [name] }).data?.servers[0];
  if (!shown || shown.tools.length === 0) return null;
  const [only] = shown.tools;
  return (
    <section id="difference" aria-label={WORDS.difference}>
      <div className="sec">
        <h2>{WORDS.difference}</h2>
        {only && shown.tools.length === 1 && <span className="m t12 grow">{hashWords(only)}</span>}
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
  const show = form === "words" ? asWords : asJson;
  return (
    <div className="diff">
      <div className="hd">
        <code className="bb">{reveal(tool.tool.replace(`${server}__`, ""))}</code>
        <span className="m t12">{Object.keys(tool.changed).map(partName).join(" and ")}{dated && `, ${hashWords(tool)}`}</span>
        <span style={{ marginLeft: "auto" }}>
          <Segments label="Shown as" value={form} options={[{ value: "words", name: "Words" }, { value: "json", name: "JSON" }]} onChange={setForm} />
        </span>
      </div>
      {Object.entries(tool.changed).map(([part, change]) => (
        <Difference key={part} marked before={reveal(show(part, change.before))} after={reveal(show(part, change.now))} />
      ))}
      {tool.findings.map((finding) => (
        <div key={finding} className="find2">
          <Glyph shape="need" />
          <span>
            <b className="b" style={{ color: "var(--ink)" }}>Finding:</b> {reveal(finding)}
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
      notify(WORDS.approved(name));
    } catch (error) {
      setTrouble(error);
    }
    void queries.invalidateQueries();
  }
  return (
    <>
      {trouble !== null && <Trouble error={trouble} />}
      <div className="ft">
        <RollBack name={name} />
        <button type="button" className="btn" onClick={() => notify(WORDS.staysHeld)}>{WORDS.keepHeld}</button>
        <span className="m t12 grow" style={{ textAlign: "right" }}>{WORDS.ifKnown}</span>
        <button type="button" className="btn bare" onClick={() => (findings.length ? setSure(true) : void approve())}>{WORDS.approve}</button>
      </div>
      {sure && (
        <Dialog title="Approve in spite of the finding?" onClose={() => setSure(false)}>
          <div style={{ padding: "14px 14px 18px" }}>
            <ul className="q">{findings.map((finding) => <li key={finding}>{reveal(finding)}</li>)}</ul>
            <div className="row" style={{ justifyContent: "flex-end", marginTop: 16 }}>
              <button type="button" className="btn pri" onClick={() => setSure(false)}>{WORDS.keepHeld}</button>
              <button type="button" className="btn" onClick={() => void approve()}>Approve it</button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}
