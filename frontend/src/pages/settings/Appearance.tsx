/** The section Appearance: theme, text sizes, single-key shortcuts; kept in this browser, not in the host. */

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
    <section className="settings-section" id="appearance">
      <h2>Appearance</h2>
      <p>This browser only.</p>
      <div className="setting-row">
        <b className="medium">Theme</b>
        <p>Follow the system, or choose one.</p>
        <span className="setting-control">
          <Segments<Theme>
            label="Theme"
            value={theme}
            onChange={setTheme}
            options={[
              { value: "system", name: "System" },
              { value: "light", name: "Light" },
              { value: "dark", name: "Dark" },
            ]}
          />
        </span>
      </div>
      <div className="setting-row">
        <b className="medium">Text size</b>
        <p>Scales the whole page.</p>
        <span className="setting-control">
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
      <div className="setting-row">
        <b className="medium">Single-key shortcuts</b>
        <p>They work outside text fields. Press ? to list them.</p>
        <span className="setting-control">
          <Switch
            label="Single-key shortcuts"
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
