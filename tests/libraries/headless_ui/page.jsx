import { useState } from "react";
import { createRoot } from "react-dom/client";
import { Checkbox, Combobox, ComboboxButton, ComboboxInput, ComboboxOption, ComboboxOptions, Description, Dialog, DialogPanel, DialogTitle, Disclosure, DisclosureButton, DisclosurePanel, Field, Label, Listbox, ListboxButton, ListboxOption, ListboxOptions, Menu, MenuButton, MenuItem, MenuItems, Popover, PopoverButton, PopoverPanel, Radio, RadioGroup, Switch, Tab, TabGroup, TabList, TabPanel, TabPanels } from "@headlessui/react";

const PEOPLE = ["Durward Reynolds", "Kenton Towne", "Therese Wunsch"];
const useTold = (name, first) => { const [value, set] = useState(first); return [value, (next) => { set(next); tell(name, next); }]; };

function App() {
  const [person, setPerson] = useTold("person", PEOPLE[0]), [team, setTeam] = useTold("team", [PEOPLE[0]]), [found, setFound] = useTold("found", null), [query, setQuery] = useState(""), [on, setOn] = useTold("switch", false), [box, setBox] = useTold("box", false), [plan, setPlan] = useTold("plan", "Startup"), [open, setOpen] = useState(false);
  return (
    <><h1>Headless UI</h1>
      <Field><Label>Assignee:</Label><Listbox value={person} onChange={setPerson}><ListboxButton>{person}</ListboxButton><ListboxOptions anchor="bottom" style={{ background: "white" }}>{PEOPLE.map((each) => <ListboxOption key={each} value={each}>{each}</ListboxOption>)}</ListboxOptions></Listbox></Field>
      <Field><Label>Team:</Label><Listbox multiple value={team} onChange={setTeam}><ListboxButton>{team.join(", ")}</ListboxButton><ListboxOptions anchor="bottom" style={{ background: "white" }}>{PEOPLE.map((each) => <ListboxOption key={each} value={each}>{({ selected }) => <>{selected ? "✓ " : ""}{each}</>}</ListboxOption>)}</ListboxOptions></Listbox></Field>
      <Field><Label>Search:</Label><Combobox value={found} onChange={setFound} onClose={() => setQuery("")}><ComboboxInput onChange={(event) => setQuery(event.target.value)} /><ComboboxButton aria-label="Show people">▾</ComboboxButton><ComboboxOptions anchor="bottom" style={{ background: "white" }}>{PEOPLE.filter((each) => each.toLowerCase().includes(query.toLowerCase())).map((each) => <ComboboxOption key={each} value={each}>{each}</ComboboxOption>)}</ComboboxOptions></Combobox></Field>
      <Field><Switch checked={on} onChange={setOn} style={{ width: 44, height: 24 }} /><Label>Enable notifications</Label><Description>Mails on each change</Description></Field>
      <Field><Checkbox checked={box} onChange={setBox} style={{ display: "inline-block", width: 20, height: 20, border: "1px solid grey" }} /><Label>Enable beta features</Label></Field>
      <RadioGroup value={plan} onChange={setPlan} aria-label="Server size">{["Startup", "Business"].map((each) => <Field key={each}><Radio value={each} style={{ display: "inline-block", width: 20, height: 20, border: "1px solid grey" }} /><Label>{each}</Label></Field>)}</RadioGroup>
      <Menu><MenuButton>My account</MenuButton><MenuItems anchor="bottom" style={{ background: "white" }}><MenuItem><a href="#settings" onClick={() => tell("menu", "settings")}>Settings</a></MenuItem><MenuItem disabled><span>Invite a friend (soon)</span></MenuItem><MenuItem><button onClick={() => tell("menu", "out")}>Sign out</button></MenuItem></MenuItems></Menu>
      <button onClick={() => setOpen(true)}>Deactivate</button><Dialog open={open} onClose={() => setOpen(false)}><div style={{ position: "fixed", inset: 0, background: "#0006" }}><DialogPanel style={{ background: "white", padding: 20 }}><DialogTitle>Deactivate account</DialogTitle><Description>This will permanently deactivate it.</Description><button onClick={() => { setOpen(false); tell("gone", true); }}>Yes, deactivate</button></DialogPanel></div></Dialog>
      <Disclosure><DisclosureButton>Is team pricing available?</DisclosureButton><DisclosurePanel>Yes! <button onClick={() => tell("bought", true)}>Buy</button></DisclosurePanel></Disclosure>
      <Popover><PopoverButton>Solutions</PopoverButton><PopoverPanel anchor="bottom" style={{ background: "white" }}><a href="#insights" onClick={() => tell("solution", "insights")}>Insights</a></PopoverPanel></Popover>
      <TabGroup onChange={(index) => tell("tab", index)}><TabList><Tab>Recent</Tab><Tab>Popular</Tab></TabList><TabPanels><TabPanel>Recent posts</TabPanel><TabPanel>Popular posts</TabPanel></TabPanels></TabGroup></>
  );
}

createRoot(document.getElementById("root")).render(<App />);
