import { useState, type ReactNode } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { useOperation } from "../../api/hooks";
import type { Vendor } from "../../api/types";
import { clock, duration, plural } from "../../ui/amounts";
import { Status, type Shape } from "../../ui/Status";
import { KeyForm } from "./KeyForm";
import { save } from "./saving";
import { WORDS } from "./words";

type Tried = { state: "asking" } | { state: "works"; ms: number; at: string } | { state: "refused"; why: string } | null;

/** Who can be asked, where each key is, and whether it works. */
export function ModelsSection({ children }: { children: ReactNode }) {
  const { data } = useOperation("models", {});
  const [adding, setAdding] = useState<string | null>(null);
  const chosen = data?.model ?? null;
  return (
    <section className="sg" id="models">
      <h2>Models</h2>
      <p>{WORDS.models}</p>
      {children}
      {data?.vendors.map((vendor) => (
        <VendorRow key={vendor.vendor} vendor={vendor} chosen={chosen} onKey={() => setAdding(vendor.vendor)} />
      ))}
      {adding && data && (
        <KeyForm
          vendors={data.vendors}
          vendor={adding}
          onClose={() => setAdding(null)}
          onModel={(model) => {
            if (!chosen) void save("agent.model", "Model", model);
          }}
        />
      )}
    </section>
  );
}

function VendorRow({ vendor, chosen, onKey }: { vendor: Vendor; chosen: string | null; onKey: () => void }) {
  const [tried, setTried] = useState<Tried>(null);
  const model = modelOf(vendor, chosen);
  async function test() {
    if (!model) return;
    setTried({ state: "asking" });
    try {
      const answer = await run("model_try", { model });
      setTried({ state: "works", ms: answer.ms, at: new Date().toISOString() });
    } catch (error) {
      setTried({ state: "refused", why: sentence(error) });
    }
  }
  const state = stateOf(vendor, tried);
  const needsKey = vendor.keys.length > 0 && vendor.key === null && vendor.vendor !== "ollama";
  return (
    <div className="se">
      <b className="b">{vendor.vendor}</b>
      <p>{about(vendor, tried)}</p>
      <span className="v">
        <Status shape={state.shape} word={state.word} />
        {needsKey || tried?.state === "refused" ? (
          vendor.keys.length > 0 && <button type="button" className="btn sm" onClick={onKey}>{vendor.key ? "Replace key" : "Add key"}</button>
        ) : (
          <button type="button" className="btn sm" disabled={!model || tried?.state === "asking"} onClick={() => void test()}>Test</button>
        )}
      </span>
    </div>
  );
}

/** The model that is asked for a word: the chosen one, else one that is here. */
function modelOf(vendor: Vendor, chosen: string | null): string | null {
  if (chosen === vendor.vendor || chosen?.startsWith(`${vendor.vendor}:`)) return chosen;
  if (vendor.vendor === "demo") return "demo";
  return vendor.models[0] ? `${vendor.vendor}:${vendor.models[0]}` : null;
}

function about(vendor: Vendor, tried: Tried): string {
  if (tried?.state === "refused") return tried.why;
  const parts: string[] = [];
  if (vendor.key) parts.push(`${vendor.key} from the ${vendor.place === "environment" ? "environment" : "keyring"}`);
  else if (vendor.vendor === "demo") parts.push("scripted, needs no account, calls real tools");
  else if (vendor.vendor === "ollama") parts.push(vendor.address.replace(/^https?:\/\/|\/v1$/g, ""));
  else if (vendor.keys.length) parts.push("No key yet");
  if (vendor.models.length) parts.push(`${plural(vendor.models.length, "model")} found by itself`);
  if (tried?.state === "works") parts.push(`tested ${clock(tried.at)}, ${duration(tried.ms)}`);
  return parts.join(" · ") || vendor.address;
}

function stateOf(vendor: Vendor, tried: Tried): { shape: Shape; word: string } {
  if (tried?.state === "asking") return { shape: "work", word: "Asking for one word…" };
  if (tried?.state === "works") return { shape: "ok", word: "Works" };
  if (tried?.state === "refused") return { shape: "fail", word: "Refused" };
  if (vendor.ready || vendor.vendor === "demo") return { shape: "ok", word: "Ready" };
  return { shape: "off", word: vendor.vendor === "ollama" ? "Not running" : "Not set" };
}
