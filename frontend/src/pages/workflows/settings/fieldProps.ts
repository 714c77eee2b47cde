/** What every field of a step's setting gets as its properties. */

import type { Field } from "../../../ui/schema-form/schema";
import type { Settings } from "../graph/file";
import type { Source } from "../graph/references";

/** What the field of one setting is given. */
export interface SettingFieldProps {
  field: Field;
  value: unknown;
  settings: Settings;
  sources: readonly Source[];
  disabled: boolean;
  onChange: (value: unknown) => void;
}
