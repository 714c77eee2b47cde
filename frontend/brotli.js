/** Writes a copy compressed with brotli beside each of the files named on the command line, for browsers that take it:
 * a seventh smaller than with gzip. The build runs it, as Python has no brotli of its own. */

import { readFileSync, writeFileSync } from "node:fs";
import { argv } from "node:process";
import { brotliCompressSync } from "node:zlib";

for (const file of argv.slice(2)) {
  const content = readFileSync(file);
  const small = brotliCompressSync(content);
  if (small.length < content.length) writeFileSync(`${file}.br`, small);
}
