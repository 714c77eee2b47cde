import { useState } from "react";

import { setSingleKeys, singleKeysOn } from "../../app/keys";
import { setTextSize, setTheme, textSize, useTheme, type Theme } from "../../app/theme";
import { Segments } from "../../ui/Segments";
import { Switch } from "../../ui/Switch";

const SIZES = ["100", "110", "120", "130"] as const;

/** How this browser shows the page; kept here, not in the host. */
export function Appearance() {
  const theme = useTheme();
  const [size, setSize] = useState(String(textSize()));
  const [keys, setKeys] = useState(singleKeysOn());
  return (
    <section className="sg" id="appearance">
      <h2>Appearance</h2>
      <p>Of this browser alone.</p>
      <div className="se">
        <b className="b">Theme</b>
        <p>As the system has it, or always the same.</p>
        <span className="v">
          <Segments<Theme> label="Theme" value={theme} onChange={setTheme} options={[{ value: "system", name: "System" }, { value: "light", name: "Light" }, { value: "dark", name: "Dark" }]} />
        </span>
      </div>
      <div className="se">
        <b className="b">Text size</b>
        <p>Everything grows with it.</p>
        <span className="v">
          <Segments
            label="Text size"
            value={size}
            options={SIZES.map((value) => ({ value: value as string, name: `${value} %` }))}
            onChange={(value) => {
              setSize(value);
              setTextSize(Number(value));
            }}
          />
        </span>
      </div>
      <div className="se">
        <b className="b">Keys of one letter</b>
        <p>They work outside fields. The question mark shows them all.</p>
        <span className="v">
          <Switch
            label="Keys of one letter"
            on={keys}
            onChange={(on) => {
              setKeys(on);
              setSingleKeys(on);
            }}
          />
        </span>
      </div>
    </section>
  );
}
