import { createRoot } from "react-dom/client";
import * as Ariakit from "@ariakit/react";
import "./page.css";

const MEALS = ["Apple", "Bacon", "Banana", "Burger", "Cake"];

function Selects() {
  const store = Ariakit.useComboboxStore({ resetValueOnHide: true });
  return (
    <section>
      <Ariakit.SelectProvider defaultValue="Orange" setValue={(value) => tell("fruit", value)}><Ariakit.SelectLabel>Favorite fruit</Ariakit.SelectLabel><Ariakit.Select className="button" /><Ariakit.SelectPopover gutter={4} className="layer">{["Apple", "Banana", "Grape", "Orange"].map((each) => <Ariakit.SelectItem key={each} value={each} disabled={each === "Grape"} />)}</Ariakit.SelectPopover></Ariakit.SelectProvider>
      <Ariakit.SelectProvider defaultValue={["Apple"]} setValue={(value) => tell("foods", value)}><Ariakit.SelectLabel>Favorite food</Ariakit.SelectLabel><Ariakit.Select className="button" /><Ariakit.SelectPopover className="layer">{MEALS.map((each) => <Ariakit.SelectItem key={each} value={each}><Ariakit.SelectItemCheck />{each}</Ariakit.SelectItem>)}</Ariakit.SelectPopover></Ariakit.SelectProvider>
      <Ariakit.ComboboxProvider setSelectedValue={(value) => tell("meal", value)}><Ariakit.ComboboxLabel>Your meal</Ariakit.ComboboxLabel><Ariakit.Combobox placeholder="e.g., Apple" /><Ariakit.ComboboxPopover className="layer">{MEALS.map((each) => <Ariakit.ComboboxItem key={each} value={each} onClick={() => tell("meal", each)} />)}</Ariakit.ComboboxPopover></Ariakit.ComboboxProvider>
      <Ariakit.ComboboxProvider store={store}><Ariakit.SelectProvider combobox={store} defaultValue="Cake" setValue={(value) => tell("searched", value)}><Ariakit.SelectLabel>Dish</Ariakit.SelectLabel><Ariakit.Select className="button" /><Ariakit.SelectPopover className="layer"><Ariakit.Combobox placeholder="Search..." /><Ariakit.ComboboxList>{MEALS.map((each) => <Ariakit.SelectItem key={each} value={each} render={<Ariakit.ComboboxItem />}>{each}</Ariakit.SelectItem>)}</Ariakit.ComboboxList></Ariakit.SelectPopover></Ariakit.SelectProvider></Ariakit.ComboboxProvider>
    </section>
  );
}

function Menus() {
  const menu = Ariakit.useMenuStore({ setValues: (values) => tell("watching", values.watching) });
  return (
    <section>
      <Ariakit.MenuProvider><Ariakit.MenuButton className="button">Edit</Ariakit.MenuButton><Ariakit.Menu className="layer"><Ariakit.MenuItem onClick={() => tell("menu", "undo")}>Undo</Ariakit.MenuItem>
        <Ariakit.MenuProvider><Ariakit.MenuItem render={<Ariakit.MenuButton />}>Find <Ariakit.MenuButtonArrow /></Ariakit.MenuItem><Ariakit.Menu className="layer"><Ariakit.MenuItem onClick={() => tell("menu", "next")}>Find Next</Ariakit.MenuItem></Ariakit.Menu></Ariakit.MenuProvider></Ariakit.Menu></Ariakit.MenuProvider>
      <Ariakit.MenuProvider store={menu}><Ariakit.MenuButton store={menu} className="button">Unwatch</Ariakit.MenuButton><Ariakit.Menu store={menu} className="layer"><Ariakit.MenuItemCheckbox name="watching" value="issues"><Ariakit.MenuItemCheck />Issues</Ariakit.MenuItemCheckbox><Ariakit.MenuItemCheckbox name="watching" value="releases"><Ariakit.MenuItemCheck />Releases</Ariakit.MenuItemCheckbox></Ariakit.Menu></Ariakit.MenuProvider>
      <Ariakit.MenubarProvider><Ariakit.Menubar className="row"><Ariakit.MenuProvider><Ariakit.MenuItem render={<Ariakit.MenuButton />}>File</Ariakit.MenuItem><Ariakit.Menu className="layer"><Ariakit.MenuItem onClick={() => tell("bar", "new")}>New Tab</Ariakit.MenuItem></Ariakit.Menu></Ariakit.MenuProvider></Ariakit.Menubar></Ariakit.MenubarProvider>
    </section>
  );
}

function Layers() {
  const dialog = Ariakit.useDialogStore();
  return (
    <section>
      <Ariakit.Button onClick={dialog.show} className="button">Show modal</Ariakit.Button><Ariakit.Dialog store={dialog} backdrop={<div className="overlay" />} className="dialog"><Ariakit.DialogHeading>Success</Ariakit.DialogHeading><p>Your payment has been processed.</p><Ariakit.DialogDismiss onClick={() => tell("dialog", "ok")}>OK</Ariakit.DialogDismiss></Ariakit.Dialog>
      <Ariakit.DisclosureProvider setOpen={(open) => tell("open", open)}><Ariakit.Disclosure className="button">What are vegetables?</Ariakit.Disclosure><Ariakit.DisclosureContent>Parts of plants that are consumed.</Ariakit.DisclosureContent></Ariakit.DisclosureProvider>
      <Ariakit.PopoverProvider><Ariakit.PopoverDisclosure className="button">Accept invite</Ariakit.PopoverDisclosure><Ariakit.Popover className="layer"><Ariakit.PopoverHeading>Team meeting</Ariakit.PopoverHeading><Ariakit.Button onClick={() => tell("accepted", true)}>Accept</Ariakit.Button></Ariakit.Popover></Ariakit.PopoverProvider>
      <Ariakit.HovercardProvider showTimeout={100}><Ariakit.HovercardAnchor href="#ariakit">@ariakitjs</Ariakit.HovercardAnchor><Ariakit.Hovercard className="layer">Toolkit for accessible web apps <button onClick={() => tell("followed", true)}>Follow</button></Ariakit.Hovercard></Ariakit.HovercardProvider>
      <Ariakit.TooltipProvider><Ariakit.TooltipAnchor render={<button aria-label="Bold" onClick={() => tell("bold", true)} />}>B</Ariakit.TooltipAnchor><Ariakit.Tooltip className="layer">Makes text bold</Ariakit.Tooltip></Ariakit.TooltipProvider>
      <Ariakit.TabProvider defaultSelectedId="fruits"><Ariakit.TabList aria-label="Groceries"><Ariakit.Tab id="fruits">Fruits</Ariakit.Tab><Ariakit.Tab id="meat">Meat</Ariakit.Tab></Ariakit.TabList><Ariakit.TabPanel>Grape, Orange</Ariakit.TabPanel><Ariakit.TabPanel>Beef, Chicken <button onClick={() => tell("tab", "meat")}>Buy</button></Ariakit.TabPanel></Ariakit.TabProvider>
    </section>
  );
}

function SignUp() {
  const form = Ariakit.useFormStore({ defaultValues: { name: "", agree: false, colour: "red" } });
  form.useSubmit((state) => tell("form", state.values));
  return (
    <Ariakit.Form store={form} aria-labelledby="add"><h2 id="add">Add user</h2>
      <Ariakit.FormLabel name={form.names.name}>Name</Ariakit.FormLabel><Ariakit.FormInput name={form.names.name} placeholder="John Doe" required /><Ariakit.FormError name={form.names.name} />
      <Ariakit.FormLabel name={form.names.agree}>I agree</Ariakit.FormLabel><Ariakit.FormCheckbox name={form.names.agree} />
      <Ariakit.FormRadioGroup><Ariakit.FormGroupLabel>Colour</Ariakit.FormGroupLabel><label><Ariakit.FormRadio name={form.names.colour} value="red" /> Red</label><label><Ariakit.FormRadio name={form.names.colour} value="blue" /> Blue</label></Ariakit.FormRadioGroup>
      <Ariakit.FormSubmit className="button">Add</Ariakit.FormSubmit></Ariakit.Form>
  );
}

createRoot(document.getElementById("root")).render(<><h1>Ariakit</h1><Selects /><Menus /><Layers /><SignUp /></>);
