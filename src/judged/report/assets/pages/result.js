/* Any result without a page of its own: its sentences, tables, figures and notes, the answer first. */

definePage("result", "", async (page, subject) => {
  const content = await block(subject, "result", "blocks");
  const [first, ...rest] = content;
  const sentence = first && first.kind === "sentence" && first.text.length < 200;
  page.append(h("h1", {}, sentence ? clip(first.text, 400) : subject.title));
  page.append(warnings(subject) || "");
  for (const part of sentence ? rest : content) page.append(...[drawBlock(part)].flat(3).filter(Boolean));
});
