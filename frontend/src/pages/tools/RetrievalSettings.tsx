/** The dialog "Tool selection": tools per question, "Offer all up to", always on, search by meaning; its texts. The
 * host checks and stores the values. */

import { useId, useState } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, useOperation } from "../../api/hooks";
import { notify } from "../../app/notices";
import { Dialog } from "../../ui/Dialog";
import { Loading } from "../../ui/Loading";
import { ErrorBox } from "../../ui/ErrorBox";

const TEXT = {
  title: "Tool selection",
  about: "Changes are saved to the config file immediately.",
  k: "Tools per question",
  kAbout: "How many of the best matches are offered, from 1 to 50.",
  all: "Offer all up to",
  allAbout: "Up to this many tools, all of them are offered.",
  always: "Always on",
  alwaysAbout: "Names or patterns such as git__*, one per line. Offered for every question.",
  embedder: "Search by meaning",
  embedderAbout: "Provider of the embeddings. Takes effect after the next start.",
  embedders: {
    builtin: "Built in",
    ollama: "Ollama",
    openai: "OpenAI-compatible address",
    none: "Off (keywords only)",
  },
  close: "Done",
};

interface Retrieval {
  k: number;
  alwaysOn: string[];
  embedder: { kind: string };
}

/** K, always on, the embedder; the same as in Settings. */
export function RetrievalSettings({ onClose }: { onClose: () => void }) {
  const { data, error, refetch } = useOperation("settings_show", {});
  const retrieval = data?.settings["retrieval"] as Retrieval | undefined;
  const agent = data?.settings["agent"] as { offerAll: number } | undefined;
  return (
    <Dialog title={TEXT.title} about={TEXT.about} className="page-tools retrieval-settings" onClose={onClose}>
      <div className="retrieval-form">
        {error && <ErrorBox error={error} again={() => void refetch()} />}
        {!error && (!retrieval || !agent) && <Loading rows={3} />}
        {retrieval && agent && (
          <>
            <Setting
              name="retrieval.k"
              label={TEXT.k}
              about={TEXT.kAbout}
              start={String(retrieval.k)}
              read={whole}
              shown={(value) => `tools offered ${String(value)}`}
            />
            <Setting
              name="agent.offerAll"
              label={TEXT.all}
              about={TEXT.allAbout}
              start={String(agent.offerAll)}
              read={whole}
              shown={(value) => `all offered up to ${String(value)}`}
            />
            <Setting
              name="retrieval.alwaysOn"
              label={TEXT.always}
              about={TEXT.alwaysAbout}
              start={retrieval.alwaysOn.join("\n")}
              long
              read={lines}
              shown={(value) => `always on ${(value as string[]).join(", ") || "nothing"}`}
            />
            <Setting
              name="retrieval.embedder.kind"
              label={TEXT.embedder}
              about={TEXT.embedderAbout}
              start={retrieval.embedder.kind}
              choices={TEXT.embedders}
              read={(text) => text}
              shown={(value) => `meaning by ${String(value)}`}
            />
          </>
        )}
        <div className="row space-above-18">
          <button type="button" className="btn primary" onClick={onClose}>
            {TEXT.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

const whole = (text: string): unknown => (/^\d+$/.test(text.trim()) ? Number(text) : text);
const lines = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

interface SettingProps {
  name: string;
  label: string;
  about: string;
  start: string;
  long?: boolean;
  choices?: Record<string, string>;
  read: (text: string) => unknown;
  shown: (value: unknown) => string;
}

function Setting({ name, label, about, start, long = false, choices, read, shown }: SettingProps) {
  const id = useId();
  const [text, setText] = useState(start);
  const [wrong, setWrong] = useState("");
  async function save(next: string) {
    if (next === start && !wrong) return;
    try {
      const saved = await run("settings_set", { key: name, value: read(next) });
      setWrong("");
      notify(
        `Saved: ${shown(saved.value)}.`,
        () => void run("settings_set", { key: name, value: saved.before }).then(refresh),
        saved.command,
      );
      refresh();
    } catch (error) {
      setWrong(short(sentence(error)));
    }
  }
  const shared = { id, "aria-describedby": `${id}-about`, "aria-invalid": wrong ? true : undefined } as const;
  return (
    <div className="retrieval-setting">
      <label htmlFor={id}>
        <b className="medium">{label}</b>
      </label>
      <p className="secondary text-small" id={`${id}-about`}>
        {about}
      </p>
      {choices ? (
        <select
          {...shared}
          className="field"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            void save(event.target.value);
          }}
        >
          {Object.entries(choices).map(([value, word]) => (
            <option key={value} value={value}>
              {word}
            </option>
          ))}
        </select>
      ) : long ? (
        <div className="field tall mono">
          <textarea
            {...shared}
            rows={3}
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
            onBlur={() => void save(text)}
          />
        </div>
      ) : (
        <div className={wrong ? "field mono invalid" : "field mono"}>
          <input
            {...shared}
            inputMode="numeric"
            value={text}
            onChange={(event) => setText(event.target.value)}
            onBlur={() => void save(text)}
            onKeyDown={(event) => event.key === "Enter" && void save(text)}
          />
        </div>
      )}
      {wrong && (
        <p className="text-small error-text space-above-4" role="alert">
          {wrong}
        </p>
      )}
    </div>
  );
}

function refresh(): void {
  void queries.invalidateQueries({
    predicate: ({ queryKey }) => ["settings_show", "rank", "find_tools"].includes(String(queryKey[0])),
  });
}

/** Without the place in the file, which is not this field's. */
function short(text: string): string {
  const told = text.replace(/^.*?: toolcrib\.[\w.]+: /, "").replace(/ Near:.*$/s, "");
  return `${told[0]?.toUpperCase() ?? ""}${told.slice(1)}`;
}
