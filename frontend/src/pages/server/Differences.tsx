import { useState, type ReactNode } from "react";

import { run } from "../../api/client";
import { queries, useOperation } from "../../api/hooks";
import type { HeldTool } from "../../api/types";
import { notify } from "../../app/notices";
import { day } from "../../ui/amounts";
import { Dialog } from "../../ui/Dialog";
import { Difference } from "../../ui/Difference";
import { reveal } from "../../ui/hidden";
import { Segments } from "../../ui/Segments";
import { Glyph } from "../../ui/Status";
import { Trouble } from "../../ui/Trouble";
import { asJson, asWords } from "./definition";
import { RollBack } from "./RollBack";
import { WORDS } from "./words";

/** What changed in the definitions that are held, with what looks wrong in them, and the ways out. */
export function Differences({ name }: { name: string }) {
  const shown = useOperation("trust", { names: [name] }).data?.servers[0];
  const agreed = useOperation("launch", { name }).data?.agreed;
  if (!shown || shown.tools.length === 0) return null;
  const approved = agreed ? `Approved ${day(agreed)} → ` : "";
  return (
    <section id="difference" aria-label={WORDS.difference}>
      <div className="sec">
        <h2>{WORDS.difference}</h2>
        <span className="m t12 grow">{approved}now {shown.tools.map((tool) => tool.hash.slice(0, 7)).join(", ")}</span>
      </div>
      {shown.tools.map((tool, index) => (
        <OneTool key={tool.tool} tool={tool} server={name}>
          {index === shown.tools.length - 1 && (
            <Decide name={name} mark={shown.mark} findings={shown.tools.flatMap((one) => one.findings)} />
          )}
        </OneTool>
      ))}
    </section>
  );
}

function OneTool({ tool, server, children }: { tool: HeldTool; server: string; children: ReactNode }) {
  const [form, setForm] = useState<"words" | "json">("words");
  const show = form === "words" ? asWords : asJson;
  return (
    <div className="diff">
      <div className="hd">
        <code className="bb">{reveal(tool.tool.replace(`${server}__`, ""))}</code>
        <span className="m t12">{Object.keys(tool.changed).map(partName).join(" and ")}</span>
        <span style={{ marginLeft: "auto" }}>
          <Segments label="Shown as" value={form} options={[{ value: "words", name: "Words" }, { value: "json", name: "JSON" }]} onChange={setForm} />
        </span>
      </div>
      {Object.entries(tool.changed).map(([part, change]) => (
        <Difference key={part} before={reveal(show(part, change.before))} after={reveal(show(part, change.now))} />
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
      notify(`Approved what “${name}” offers now.`);
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
        <button type="button" className="btn" onClick={() => notify("It stays held.")}>{WORDS.keepHeld}</button>
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
