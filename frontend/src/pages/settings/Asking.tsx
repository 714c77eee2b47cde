import { RadioGroup } from "radix-ui";
import { useState, type ReactNode } from "react";

import { sentence } from "../../api/errors";
import { Dialog } from "../../ui/Dialog";
import { save } from "./saving";
import { MODES, WORDS } from "./words";

/** When a person is asked; turning it off is asked about once. */
export function Asking({ mode, children }: { mode: string; children: ReactNode }) {
  const [sure, setSure] = useState(false);
  const [wrong, setWrong] = useState("");
  function put(next: string) {
    setWrong("");
    save("approvals.mode", "Mode", next).catch((error: unknown) => setWrong(sentence(error)));
  }
  function choose(next: string) {
    if (next === "off" && mode !== "off") setSure(true);
    else put(next);
  }
  return (
    <section className="sg" id="asking">
      <h2>When to ask</h2>
      <p>{WORDS.asking}</p>
      <RadioGroup.Root className="panel" aria-label="Mode" style={{ overflow: "hidden" }} value={mode} onValueChange={choose}>
        {MODES.map((one) => (
          <div key={one.value} className={one.value === mode ? "md on" : "md"}>
            <RadioGroup.Item className={one.value === mode ? "rd on" : "rd"} value={one.value} id={`mode-${one.value}`} aria-describedby={`mode-${one.value}-about`} />
            <label htmlFor={`mode-${one.value}`}>
              <b className="b">{one.name}</b>
            </label>
            <p id={`mode-${one.value}-about`}>{one.about}</p>
          </div>
        ))}
      </RadioGroup.Root>
      {wrong && <p className="t12 wrong" role="alert" style={{ marginTop: 8 }}>{wrong}</p>}
      <p className="m t12" style={{ margin: "8px 0 10px" }}>{WORDS.session}</p>
      {children}
      {sure && (
        <Dialog title="Turn off asking?" onClose={() => setSure(false)}>
          <div style={{ padding: "14px 14px 18px" }}>
            <p className="q">{WORDS.offAsks}</p>
            <div className="row" style={{ justifyContent: "flex-end", marginTop: 16 }}>
              <button type="button" className="btn pri" onClick={() => setSure(false)}>Keep asking</button>
              <button
                type="button"
                className="btn"
                onClick={() => {
                  setSure(false);
                  put("off");
                }}
              >
                Turn it off
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </section>
  );
}
