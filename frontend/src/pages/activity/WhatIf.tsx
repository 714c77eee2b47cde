/** The form "What would happen?": whether a call would be allowed, asked or denied, and by which rule. It calls the
 * host, which decides; nothing runs. */

import { useId, useState, type FormEvent } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, useOperation, usePages } from "../../api/hooks";
import type { Explanation } from "../../api/types";
import { reveal } from "../../ui/hidden";
import { Status, type Shape } from "../../ui/Status";
import { builtInName } from "../../text/builtInRules";
import { MODE_NAMES } from "../../text/modes";
import { RULES } from "./text";

const SHAPES: Record<Explanation["decision"], Shape> = { allow: "done", ask: "asked", deny: "deny" };
const WHO = {
  agent: "A chat",
  page: "This page",
  gateway: "A gateway client",
  workflow: "A workflow",
  cli: "The terminal",
  python: "A program",
};

/** A call as a question to the gate; nothing runs. */
export function WhatIf() {
  const id = useId();
  const [tool, setTool] = useState("");
  const [text, setText] = useState("{}");
  const [who, setWho] = useState<keyof typeof WHO>("agent");
  const [told, setTold] = useState<Explanation | null>(null);
  const [trouble, setTrouble] = useState("");
  const { data } = usePages("find_tools", {});
  const { data: policy } = useOperation("policy_list", {});
  async function ask(event: FormEvent) {
    event.preventDefault();
    setTold(null);
    setTrouble("");
    try {
      const given = JSON.parse(text || "{}") as { [name: string]: unknown };
      setTold(await run("policy_explain", { tool: tool.trim(), arguments: given, principal: who }));
      void queries.invalidateQueries({ queryKey: ["policy_list"] }); // A command may have written rules meanwhile.
    } catch (error) {
      setTrouble(error instanceof SyntaxError ? `Not valid JSON. ${error.message}` : sentence(error));
    }
  }
  const rule = policy?.rules.find((one) => one.id === told?.rule);
  return (
    <form className="path what-if" onSubmit={(event) => void ask(event)}>
      <h2>{RULES.what}</h2>
      <p className="secondary text-small space-above-4">{RULES.whatAbout}</p>
      <label htmlFor={`${id}-tool`}>{RULES.tool}</label>
      <div className="field mono">
        <input
          id={`${id}-tool`}
          value={tool}
          list={`${id}-tools`}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setTool(event.target.value)}
        />
      </div>
      <datalist id={`${id}-tools`}>
        {(data?.tools ?? []).map((one) => (
          <option key={one.name} value={one.name} />
        ))}
      </datalist>
      <label htmlFor={`${id}-arguments`}>{RULES.arguments}</label>
      <div className="field mono tall">
        <textarea
          id={`${id}-arguments`}
          rows={4}
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <label htmlFor={`${id}-who`}>{RULES.asWho}</label>
      <select
        id={`${id}-who`}
        className="field"
        value={who}
        onChange={(event) => setWho(event.target.value as keyof typeof WHO)}
      >
        {Object.entries(WHO).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      <div className="row space-above-14">
        <button type="submit" className="btn primary" disabled={!tool.trim()}>
          {RULES.ask}
        </button>
      </div>
      {trouble && (
        <p className="error-box space-above-14" role="alert">
          {reveal(trouble)}
        </p>
      )}
      {told && (
        <div className="space-above-14" role="status" data-decision={told.decision}>
          <Status shape={SHAPES[told.decision]} word={RULES.decisions[told.decision]} />
          <p className="secondary space-above-6">
            {rule
              ? RULES.byRule(rule.number)
              : told.rule && policy?.built_in.includes(told.rule)
                ? RULES.byBuiltIn(builtInName(told.rule))
                : told.rule
                  ? RULES.byOwn
                  : RULES.byMode(MODE_NAMES[told.mode])}
          </p>
          <ul className="secondary text-small space-above-4">
            {told.reasons.map((reason) => (
              <li key={reason}>{reveal(reason)}</li>
            ))}
          </ul>
        </div>
      )}
    </form>
  );
}
