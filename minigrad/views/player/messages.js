// The texts of the page. They are written in minigrad/tracing/messages.toml, the one table
// of all texts; script.py puts most in the place of the keys that this code names, others
// before it: MESSAGES and WORDS.

// A text, its {fields} filled in; of two, for a count of 1, that which ends in "one".
export function message(key, fields = {}, otherwise = key) {
  const one = fields.count === 1 ? MESSAGES[`${key}.one`] : undefined;
  const text = one ?? MESSAGES[key] ?? MESSAGES[otherwise] ?? otherwise;
  return text.replace(/\{(\w+)\}/g, (_, name) => String(fields[name]));
}

// What a recording calls something by a fixed word, in the language of the page.
export function wordFor(text) {
  return WORDS[text] ?? text;
}
